import { fitsGlob } from "./glob.ts";
import { areLabelsCovered, canonicalHost, hostsOf } from "./web-pattern.ts";

/** A pattern for mail addresses, by its fields: `*@example.org`. */
export interface MailPattern {
  readonly name: string;
  readonly domain: string;
}

const PATTERN = /^([^\s@/:;,<>]*)@([^\s@/:;,<>]+)$/;
/** An address that every mail program reads in the same way. */
const PLAIN = /^([\p{L}\p{N}._+'-]+)@([\p{L}\p{N}.-]+)$/u;

/** The fields of a pattern for mail addresses; undefined for another pattern. */
export function mailPattern(pattern: string): MailPattern | undefined {
  const [, name, domain] = PATTERN.exec(pattern) ?? [];
  return name === undefined || domain === undefined ? undefined : { name, domain: canonicalHost(domain) };
}

/** True when each address of a list is plain and fits, for rules that allow. */
export function isMailIn(text: string, { name: wanted, domain: of }: MailPattern): boolean {
  return text.split(/[,;]/).every((one) => {
    const [, name, domain] = PLAIN.exec(one.trim()) ?? [];
    return name !== undefined && domain !== undefined && fitsGlob(name, wanted) && areLabelsCovered(canonicalHost(domain), of);
  });
}

/** True when an address in a text fits, for rules that ask or deny. */
export function isMailMeant(text: string, { name: wanted, domain: of }: MailPattern): boolean {
  return text.split(/[\s,;:<>"'()[\]?&=/]+/).some((one) => {
    const at = one.lastIndexOf("@");
    return at !== -1 && fitsGlob(one.slice(0, at).toLowerCase(), wanted.toLowerCase()) && fitsGlob(hostsOf(one.slice(at + 1))[0] ?? "", of);
  });
}
