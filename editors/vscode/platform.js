// For which platform a program was made, by the first bytes of its file: a package with the program of another platform inside
// would only fail where it is installed.
'use strict';

const ELF = new Map([[0x3e, 'x64'], [0xb7, 'arm64'], [0x28, 'armhf']]);
const MACH_O = new Map([[0x01000007, 'x64'], [0x0100000c, 'arm64']]);
const PORTABLE_EXECUTABLE = new Map([[0x8664, 'x64'], [0xaa64, 'arm64']]);

/** The platform as vsce calls it (`linux-x64`), or nothing. Programs for musl are told from others by their interpreter only. */
function platform(bytes) {
  const named = (system, table, number) => (table.has(number) ? `${system}-${table.get(number)}` : undefined);
  if (bytes.length >= 20 && bytes.readUInt32BE(0) === 0x7f454c46) return named('linux', ELF, bytes.readUInt16LE(18));
  if (bytes.length >= 8 && bytes.readUInt32LE(0) === 0xfeedfacf) return named('darwin', MACH_O, bytes.readUInt32LE(4));
  if (bytes.length >= 64 && bytes.readUInt16LE(0) === 0x5a4d) {
    const header = bytes.readUInt32LE(60);
    if (header + 6 <= bytes.length && bytes.readUInt32LE(header) === 0x4550) {
      return named('win32', PORTABLE_EXECUTABLE, bytes.readUInt16LE(header + 4));
    }
  }
  return undefined;
}

/** Whether a program runs on a platform: `alpine` is Linux. */
function runsOn(bytes, target) {
  const found = platform(bytes);
  return found !== undefined && found === target.replace(/^alpine-/, 'linux-');
}

module.exports = { platform, runsOn };

if (require.main === module) {
  const [, , target, file] = process.argv;
  const bytes = require('fs').readFileSync(file).subarray(0, 4096);
  if (!runsOn(bytes, target)) {
    console.error(`${file} is a program for ${platform(bytes) ?? 'no platform that is known'}, not for ${target}`);
    process.exit(1);
  }
}
