// What a call to `belljar serve` costs through the official TypeScript client over stdio, beside an
// empty ping through the same client and fork + exit + wait of a bare CPython (B), round by round.
//
//   official_client.mjs BUILD NODE_MODULES [--rounds N] [--json]     (./dev bench client)
//
// BUILD is a build tree with the benchmarks; NODE_MODULES is where the client is installed.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const USAGE = 'usage: ./dev bench client [--rounds N] [--json]';

function readOptions() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        rounds: { type: 'string', default: '100' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) {
      console.log(USAGE);
      process.exit(0);
    }
    if (positionals.length !== 2) throw new Error('BUILD and NODE_MODULES are needed');
    if (!/^[1-9]\d{0,5}$/.test(values.rounds)) throw new Error('--rounds takes a whole number');
    return { ...values, rounds: Number(values.rounds), places: positionals };
  } catch (error) {
    console.error(`${error.message}\n${USAGE}`);
    process.exit(2);
  }
}

const { rounds, json, places } = readOptions();
const [build, modules] = places;
const require = createRequire(resolve(modules, 'package.json'));
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');
const { version } = JSON.parse(
  readFileSync(resolve(modules, '@modelcontextprotocol/sdk/package.json'), 'utf8'),
);

const PAUSE = 15; // ms; about ten times what a spare needs to be ready again
const IN_A_ROW = 10; // calls without a pause, in each round
const GOAL = 1.5; // B beyond a ping

// A program that answers one byte with one sample in nanoseconds (bench/floor_python.cc).
function startFloor(program) {
  const child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = new Promise((_, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`${program} ended with ${code}`)));
  });
  exited.catch(() => {}); // told by the sample that waits, if any
  return {
    async sample() {
      const answer = new Promise((resolve) => child.stdout.once('data', resolve));
      child.stdin.write('f');
      return Number((await Promise.race([answer, exited])).readBigUInt64LE()) / 1e6;
    },
    close: () => child.stdin.end(),
  };
}

const samples = new Map();
function add(name, milliseconds) {
  if (!samples.has(name)) samples.set(name, []);
  samples.get(name).push(milliseconds);
}

async function timed(call) {
  const began = performance.now();
  await call();
  return performance.now() - began;
}

function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
const median = (name) => percentile(samples.get(name), 0.5);

const client = new Client({ name: 'belljar-bench', version: '1' });
await client.connect(
  new StdioClientTransport({ command: `${build}/belljar`, args: ['serve'], stderr: 'ignore' }),
);
const floor = startFloor(`${build}/bin/belljar-bench-floor-python`);
const ping = () => client.ping();
async function execute() {
  const answer = await client.callTool({
    name: 'execute_code',
    arguments: { code: 'result = 2 + 2' },
  });
  if (answer.structuredContent?.result !== 4) {
    throw new Error(`execute_code answered ${JSON.stringify(answer)}`);
  }
}

await client.listTools(); // as a model's client does; it compiles the output schemas
for (let i = 0; i < 50; ++i) await execute(); // Node compiles what is hot
for (let round = 0; round < rounds; ++round) {
  await sleep(PAUSE);
  add('fork + exit + wait of a bare CPython (B)', await floor.sample());
  for (const [name, call] of [['ping', ping], ['execute_code', execute]]) {
    await sleep(PAUSE);
    add(`${name}, after a pause`, await timed(call));
    await sleep(PAUSE);
    for (let i = 0; i < IN_A_ROW; ++i) add(`${name}, back to back`, await timed(call));
  }
}
floor.close();
await client.close();

const base = median('fork + exit + wait of a bare CPython (B)');
const rows = [...samples].map(([name, values]) => ({
  name,
  least: percentile(values, 0),
  median: percentile(values, 0.5),
  p99: percentile(values, 0.99),
  times_b: percentile(values, 0.5) / base,
}));
const goals = ['after a pause', 'back to back'].map((how) => {
  const value = (median(`execute_code, ${how}`) - median(`ping, ${how}`)) / base;
  return { name: `execute_code beyond a ping, ${how}, x B`, value, goal: GOAL, reached: value <= GOAL };
});
const load = loadavg()[0];
if (json) {
  console.log(JSON.stringify({ client: version, rounds, load, rows, goals }));
} else {
  const cell = (number) => number.toFixed(3).padStart(8);
  console.log(
    `@modelcontextprotocol/sdk ${version}, node ${process.versions.node}, ` +
      `${rounds} rounds, ${availableParallelism()} processors, load ${load.toFixed(1)}\n`,
  );
  console.log(`${'ms'.padEnd(44)}${['least', 'median', 'p99', 'x B'].map((s) => s.padStart(8)).join('')}`);
  for (const { name, ...numbers } of rows) {
    console.log(name.padEnd(44) + Object.values(numbers).map(cell).join(''));
  }
  console.log();
  for (const { name, value, goal, reached } of goals) {
    console.log(`${reached ? 'reached' : 'NOT reached'}: ${name}: ${value.toFixed(2)} (goal <= ${goal})`);
  }
}
