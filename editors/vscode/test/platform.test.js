// Programs are known by their first bytes, and none goes into the package of another platform.
'use strict';

const assert = require('node:assert');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const test = require('node:test');
const { platform, runsOn } = require('../platform');

const elf = (machine) => {
  const bytes = Buffer.alloc(64);
  bytes.write('\x7fELF', 'latin1');
  bytes.writeUInt16LE(machine, 18);
  return bytes;
};
const machO = (type) => {
  const bytes = Buffer.alloc(32);
  bytes.writeUInt32LE(0xfeedfacf, 0);
  bytes.writeUInt32LE(type, 4);
  return bytes;
};
const executable = (machine, at = 128) => {
  const bytes = Buffer.alloc(at + 24);
  bytes.write('MZ', 'latin1');
  bytes.writeUInt32LE(at, 60);
  bytes.write('PE\0\0', at, 'latin1');
  bytes.writeUInt16LE(machine, at + 4);
  return bytes;
};
const programs = {
  'linux-x64': elf(0x3e),
  'linux-arm64': elf(0xb7),
  'linux-armhf': elf(0x28),
  'darwin-x64': machO(0x01000007),
  'darwin-arm64': machO(0x0100000c),
  'win32-x64': executable(0x8664),
  'win32-arm64': executable(0xaa64, 64),
};

test('each program runs on its platform and on no other', () => {
  for (const [target, bytes] of Object.entries(programs)) {
    for (const other of Object.keys(programs)) assert.strictEqual(runsOn(bytes, other), target === other, `${target} on ${other}`);
  }
  assert.ok(runsOn(programs['linux-x64'], 'alpine-x64'));
  // The program that runs this test is one for this platform.
  const own = fs.readFileSync(process.execPath).subarray(0, 4096);
  assert.strictEqual(platform(own), `${process.platform}-${process.arch}`);
});

test('what breaks off is no program', () => {
  for (const bytes of Object.values(programs)) {
    for (let length = 0; length < 20; length += 1) assert.doesNotThrow(() => platform(bytes.subarray(0, length)));
  }
  assert.strictEqual(platform(Buffer.from('#!/bin/sh\necho no program at all, but long enough to be read as one\n')), undefined);
  assert.strictEqual(platform(executable(0x8664).subarray(0, 70)), undefined);
});

test('a program of another platform is refused before anything is made', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'saltus-platforms-'));
  const put = (target, name, bytes) => {
    fs.mkdirSync(path.join(folder, target), { recursive: true });
    fs.writeFileSync(path.join(folder, target, name), bytes);
  };
  put('linux-x64', 'saltus', programs['linux-x64']);
  put('win32-x64', 'saltus.exe', programs['linux-x64']);
  const made = spawnSync('bash', [path.join(__dirname, '../package'), '--all', folder], { encoding: 'utf8' });
  assert.notStrictEqual(made.status, 0);
  assert.match(made.stderr, /is a program for linux-x64, not for win32-x64/);
  put('darwin-arm64', 'readme', Buffer.from('nothing'));
  const empty = spawnSync('bash', [path.join(__dirname, '../package'), '--all', folder], { encoding: 'utf8' });
  assert.match(empty.stderr, /there is no program in/);
  fs.rmSync(folder, { recursive: true });
});
