// What runs in npm's sandbox: npm, once, and what it has installed as one archive.
//
// Standard input: {"requirements", "index", "connect_timeout"}. Standard output, which the host takes
// for hostile as it does everything from there:
//
//     {"packages": [{"name", "version", "file", "sha256"}, ...]}     and /workspace/packages.tar.z
//     {"fault": "unknown" | "no-version" | "space" | "npm" | "no-npm" | "path", "what": text}
//
// Nothing of a package is run: npm is told to run no scripts, and everything that it unpacks is data.
'use strict';
const childProcess = require('child_process');
const crypto = require('crypto');
const fs = require('fs');
const path = require('path');
const { pipeline } = require('stream/promises');
const zlib = require('zlib');

const PROJECT = '/tmp/project';
const MODULES = PROJECT + '/node_modules';
const CACHE = '/tmp/npm';
const ARCHIVE = '/workspace/packages.tar.z';
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';  // this machine's, beside Node's own
const IN_WORKER = '/packages/node_modules';
const BLOCK = 512;
const MAX_TEXT = 200;  // characters of a fault: the host takes 1000 bytes
const NO_SPACE = ['EFBIG', 'ENOSPC', 'EDQUOT'];

class Fault extends Error {
  constructor(kind, what) {
    super(what);
    this.kind = kind;
  }
}

// --- npm ----------------------------------------------------------------------------------------

function findNpm() {
  const beside = path.join(path.dirname(process.execPath), '../lib/node_modules/npm');
  const places = [beside, '/usr/lib/node_modules/npm', '/usr/share/nodejs/npm'];
  const found = places.map((place) => place + '/bin/npm-cli.js').find((place) => fs.existsSync(place));
  if (!found) throw new Fault('no-npm', 'there is none in ' + places.join(', '));
  return found;
}

// npm takes names and passwords of a registry only from its settings.
function settings(index) {
  const { username, password, host, pathname } = new URL(index);
  if (!username) return '';
  const account = Buffer.from(decodeURIComponent(username) + ':' + decodeURIComponent(password));
  const place = host + pathname.replace(/\/*$/, '/');
  return `//${place}:_auth=${account.toString('base64')}\n`;
}

function withoutAccount(index) {
  const address = new URL(index);
  address.username = address.password = '';
  return address.href;
}

function runNpm(npm, asked) {
  for (const folder of [PROJECT, CACHE, process.env.HOME]) fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(PROJECT + '/.npmrc', settings(asked.index));
  const specifications = asked.requirements.map((each) => each.replace(/^npm:/, ''));
  const dependencies = {};
  for (const each of specifications) {
    const at = each.indexOf('@', 1);
    dependencies[at < 0 ? each : each.slice(0, at)] = at < 0 ? 'latest' : each.slice(at + 1);
  }
  fs.writeFileSync(PROJECT + '/package.json', JSON.stringify({ private: true, dependencies }));
  const proxy = process.env.http_proxy;
  const done = childProcess.spawnSync(process.execPath, [
    npm, 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--omit=dev',
    '--no-progress', '--install-strategy=hoisted', '--loglevel=error', '--fetch-retries=1',
    `--fetch-timeout=${asked.connect_timeout * 1000}`, `--cache=${CACHE}`,
    `--registry=${withoutAccount(asked.index)}`, `--proxy=${proxy}`, `--https-proxy=${proxy}`,
  ], { cwd: PROJECT, env: { NODE_EXTRA_CA_CERTS: CERTIFICATES, ...process.env }, encoding: 'utf8', maxBuffer: 1 << 24 });
  if (done.status !== 0) throw explained(String(done.stderr) + String(done.stdout), done);
}

function explained(text, done) {
  if (NO_SPACE.some((code) => text.includes(code))) return new Fault('space', '');
  const missing = text.match(/404 +'?((?:@[\w.-]+\/)?[\w.-]+)@/) ?? text.match(/404 .*\/([\w.@%-]+) - Not found/i);
  if (/code E404/.test(text)) return new Fault('unknown', missing ? missing[1].slice(0, MAX_TEXT) : '');
  const version = text.match(/No matching version found for ([^\s]+?)\.?$/m);
  if (version) return new Fault('no-version', version[1].slice(0, MAX_TEXT));
  const lines = text.split('\n').filter((line) => /^npm (ERR!|error) /.test(line));
  const said = lines.find((line) => !/ (ERR!|error) (code|errno|path|syscall) /.test(line)) ?? lines[0];
  return new Fault('npm', (said ?? `it ended with ${done.status ?? done.signal}`).slice(0, MAX_TEXT));
}

// By npm's own record. Of one name there may be several versions, in the folders of who needs them.
function installed() {
  const record = JSON.parse(fs.readFileSync(MODULES + '/.package-lock.json', 'utf8'));
  const found = new Map();
  for (const [place, entry] of Object.entries(record.packages)) {
    const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
    if (entry.inBundle) continue;  // part of the archive of who has it
    if (entry.link || !entry.resolved || !entry.integrity) {
      throw new Fault('path', `${name} is not of the registry`.slice(0, MAX_TEXT));
    }
    const file = path.posix.basename(new URL(entry.resolved).pathname);
    found.set(name + '@' + entry.version, {
      name: 'npm:' + name, version: entry.version, file, sha256: digestOf(entry.integrity),
    });
  }
  return [...found.values()];
}

// npm verifies by another digest; what it has verified is in its cache.
function digestOf(integrity) {
  const [kind, digest] = integrity.split(' ')[0].split(/-(.*)/);
  const hex = Buffer.from(digest, 'base64').toString('hex');
  const file = path.join(CACHE, '_cacache/content-v2', kind, hex.slice(0, 2), hex.slice(2, 4), hex.slice(4));
  return crypto.createHash('sha256').update(fs.readFileSync(file)).digest('hex');
}

// npm makes links, which no archive of ours has.
function writeScripts() {
  fs.rmSync(MODULES + '/.bin', { recursive: true, force: true });
  fs.rmSync(MODULES + '/.package-lock.json');
  const bin = new Map();
  for (const name of topLevel()) {
    const about = JSON.parse(fs.readFileSync(`${MODULES}/${name}/package.json`, 'utf8'));
    const own = typeof about.bin === 'string' ? { [name.split('/').pop()]: about.bin } : about.bin;
    for (const [command, file] of Object.entries(own ?? {})) {
      const target = path.posix.join(IN_WORKER, name, String(file));
      const isPlain = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(command) && /^[\w@./+-]+$/.test(target);
      if (isPlain && target.startsWith(`${IN_WORKER}/${name}/`)) bin.set(command, target);
    }
  }
  if (bin.size) fs.mkdirSync(MODULES + '/.bin');
  for (const [command, target] of bin) {
    fs.writeFileSync(`${MODULES}/.bin/${command}`, `#!/bin/sh\nexec node "${target}" "$@"\n`, { mode: 0o755 });
  }
}

function topLevel() {
  const names = [];
  for (const entry of fs.readdirSync(MODULES)) {
    if (entry.startsWith('@')) {
      for (const scoped of fs.readdirSync(path.join(MODULES, entry))) names.push(`${entry}/${scoped}`);
    } else if (!entry.startsWith('.')) {
      names.push(entry);
    }
  }
  return names;
}

// --- the archive --------------------------------------------------------------------------------
// The form of install.py.

function header(name, mode, size, kind) {
  const whole = kind === '5' ? Buffer.concat([name, Buffer.from('/')]) : name;
  let prefix = Buffer.alloc(0);
  let last = whole;
  if (whole.length > 100) {
    const slash = whole.indexOf('/', whole.length - 101);
    if (slash < 0 || slash + 1 >= whole.length || slash > 155) throw new Fault('path', name.toString().slice(-MAX_TEXT));
    prefix = whole.subarray(0, slash);
    last = whole.subarray(slash + 1);
  }
  const block = Buffer.alloc(BLOCK);
  const octal = (number, digits) => number.toString(8).padStart(digits, '0') + '\0';
  last.copy(block, 0);
  block.write(octal(mode, 7) + octal(0, 7) + octal(0, 7) + octal(size, 11) + octal(0, 11) + ' '.repeat(8) + kind, 100);
  block.write('ustar\x0000', 257, 'latin1');
  block.write(octal(0, 7) + octal(0, 7), 329);
  prefix.copy(block, 345);
  block.write(octal(block.reduce((sum, byte) => sum + byte, 0), 6) + ' ', 148);
  return block;
}

// [path below root, what lstat says], sorted by the bytes of the path.
function entries(root) {
  const found = [];
  const folders = [Buffer.alloc(0)];
  const joined = (below, name) => Buffer.concat(below.length ? [below, Buffer.from('/'), name] : [name]);
  while (folders.length) {
    const below = folders.pop();
    for (const name of fs.readdirSync(joined(Buffer.from(root), below), { encoding: 'buffer' })) {
      const place = joined(below, name);
      const status = fs.lstatSync(joined(Buffer.from(root), place));
      if (status.isDirectory()) folders.push(place);
      else if (!status.isFile()) throw new Fault('path', place.toString().slice(-MAX_TEXT));
      found.push([place, status]);
    }
  }
  return found.sort((a, b) => Buffer.compare(a[0], b[0]));
}

function* tar(root) {
  for (const [place, status] of entries(root)) {
    if (status.isDirectory()) {
      yield header(place, 0o555, 0, '5');
      continue;
    }
    yield header(place, status.mode & 0o100 ? 0o555 : 0o444, status.size, '0');
    yield fs.readFileSync(Buffer.concat([Buffer.from(root + '/'), place]));
    yield Buffer.alloc((BLOCK - (status.size % BLOCK)) % BLOCK);
  }
  yield Buffer.alloc(2 * BLOCK);
}

async function install(asked) {
  try {
    runNpm(findNpm(), asked);
    const packages = installed();
    writeScripts();
    await pipeline(tar(MODULES), zlib.createDeflate({ level: 1 }), fs.createWriteStream(ARCHIVE));
    return { packages };
  } catch (error) {
    if (error instanceof Fault) return { fault: error.kind, what: error.message };
    if (NO_SPACE.includes(error.code)) return { fault: 'space', what: '' };
    throw error;
  }
}

install(JSON.parse(fs.readFileSync(0, 'utf8'))).then((answer) => process.stdout.write(JSON.stringify(answer)));
