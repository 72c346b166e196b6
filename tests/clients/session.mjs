// Talks to Belljar through one of the official TypeScript clients and prints what it saw, one JSON
// object a line: {step, seen}. session.py is the same for the Python client; official.py reads both.
//
//   node session.mjs '{"package": "sdk" | "client", "mode": …, "stdio": {command, args, env} | null,
//                      "http": {url, headers} | null, "installed": folder of node_modules}'
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const plan = JSON.parse(process.argv[2]);
const require = createRequire(`${plan.installed}/package.json`);
// It rests at the end: these clients lose a notification that they read together with the answer.
const PROGRAM =
  'import time\nprint("first")\ntime.sleep(SECONDS)\nprint("last")\ntime.sleep(0.2)\nresult = 7';

function parts() {
  if (plan.package === 'sdk') {
    return {
      ...require('@modelcontextprotocol/sdk/client/index.js'),
      ...require('@modelcontextprotocol/sdk/client/stdio.js'),
      ...require('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    };
  }
  return { ...require('@modelcontextprotocol/client'), ...require('@modelcontextprotocol/client/stdio') };
}

const { Client, StdioClientTransport, StreamableHTTPClientTransport } = parts();
const options = plan.package === 'client' ? { versionNegotiation: { mode: plan.mode } } : {};
const client = new Client({ name: 'belljar-tests', version: '1' }, options);
const transport = plan.stdio
  ? new StdioClientTransport({ ...plan.stdio, stderr: 'inherit' })
  : new StreamableHTTPClientTransport(new URL(plan.http.url), {
      requestInit: { headers: plan.http.headers },
    });
// Only the HTTP transports tell which revision was agreed on.
let agreed = null;
if (plan.package === 'sdk' && plan.stdio) transport.setProtocolVersion = (version) => (agreed = version);
const protocolErrors = [];
client.onerror = (error) => protocolErrors.push(String(error));

const say = (step, seen) => process.stdout.write(`${JSON.stringify({ step, seen })}\n`);
const told = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

// The client's own validators throw when a result does not fit the tool's output schema.
async function call(name, args, requestOptions) {
  const params = { name, arguments: args };
  try {
    return plan.package === 'sdk'
      ? await client.callTool(params, undefined, requestOptions)
      : await client.callTool(params, requestOptions);
  } catch (error) {
    return { thrown: { name: error.name, code: error.code ?? null, message: error.message } };
  }
}
const list = async () =>
  (await client.listTools(undefined, plan.package === 'client' ? { cacheMode: 'bypass' } : {})).tools;
const modern = () => plan.package === 'client' && client.getProtocolEra() === 'modern';

// Runs code that prints, and does `meanwhile` once the first of it has arrived.
async function watched(code, meanwhile, requestOptions = {}) {
  const events = [];
  let arrived;
  const first = new Promise((resolve) => (arrived = resolve));
  const onprogress = (progress) => {
    events.push({ event: 'progress', ...progress });
    arrived();
  };
  const answer = call('execute_code', { code, timeout: 60 }, { onprogress, ...requestOptions }).then(
    (result) => {
      events.push({ event: 'answer' });
      arrived();
      return result;
    },
  );
  await first;
  await meanwhile?.(events);
  return { result: await answer, events };
}

await client.connect(transport);
say('connected', {
  version:
    plan.package === 'client' ? client.getNegotiatedProtocolVersion() : (transport.protocolVersion ?? agreed),
  server: client.getServerVersion() ?? null,
  capabilities: client.getServerCapabilities(),
  instructions: client.getInstructions() ?? null,
});
say('tools', await list());
for (const [step, name, args] of plan.calls) {
  const answer = await call(name, args);
  say(step, answer);
  for (const part of answer.content ?? []) {
    if (part.type === 'resource_link') say('read', await client.readResource({ uri: part.uri }));
  }
}

say('progress', await watched(PROGRAM.replace('SECONDS', '0.4')));

say(
  'responsive',
  await watched(PROGRAM.replace('SECONDS', '1.5'), async (events) => {
    if (!modern()) {
      await client.ping();
      events.push({ event: 'ping' });
    }
    events.push({ event: 'list', tools: (await list()).length });
  }),
);

const order = [];
const timed = (name, code) => call('execute_code', { code }).then(({ structuredContent }) => {
  order.push(name);
  return structuredContent?.result;
});
const results = await Promise.all([
  timed('slow', 'import time\ntime.sleep(0.6)\nresult = "slow"'),
  timed('quick', 'result = "quick"'),
]);
say('parallel', { order, results });

const stop = new AbortController();
say(
  'cancelled',
  await watched(
    'print("spinning")\nwhile True:\n    pass\n',
    async () => {
      say('spinning', null);
      await told.next();
      stop.abort('enough');
    },
    { signal: stop.signal },
  ),
);
say('after', await call('execute_code', { code: 'result = 8' }));

const closing = performance.now();
await client.close();
say('closed', { seconds: (performance.now() - closing) / 1000, protocolErrors });
process.exit(0);
