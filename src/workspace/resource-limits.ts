import { LONGEST_TIMEOUT } from "./process.ts";
import { findProgram } from "./program-path.ts";

/** Bytes of address space of one process. Node.js boots in it when WebAssembly is told not to reserve its usual 10 GiB. */
const ADDRESS_SPACE = 4 * 1024 ** 3;
/** Bytes of one file. */
const FILE_SIZE = 64 * 1024 ** 2;

/** Without it WebAssembly (and with it `fetch`) fails under a limited address space. Node.js 20.15 and later know it. */
export const NODE_OPTIONS = "--disable-wasm-trap-handler";

/** Whether this machine has `prlimit`, where a sandbox that shows only the system's programs has it too. */
export function findPrlimit(): string | undefined {
  const file = findProgram("prlimit");
  return file !== undefined && /^\/(usr\/)?s?bin\//.test(file) ? file : undefined;
}

/** The words before a command that limit what it and its children may use. CPU seconds follow from the time limit in ms. */
export function limitWords(prlimit: string, timeout: number, processes: number | undefined): string[] {
  const cpu = Math.ceil(Math.min(timeout, LONGEST_TIMEOUT) / 1000) + 1;
  const words = [prlimit, `--as=${ADDRESS_SPACE}`, `--fsize=${FILE_SIZE}`, `--cpu=${cpu}`, "--core=0"];
  return processes === undefined ? [...words, "--"] : [...words, `--nproc=${processes}`, "--"];
}
