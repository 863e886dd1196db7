import type { ConfigValues } from "../../shared/config/schema.ts";
import { isLoopbackHost } from "../../shared/http/network-address.ts";

const BREAK = String.raw`(?:[ \t]{0,9}\r?\n[ \t]{0,9}|\\n)`;
const BASE64_OR_HEADER = String.raw`(?:[A-Za-z0-9+/=]{1,4096}|[A-Za-z-]{1,40}: [^\n]{0,200})?`;
const LINE_END = String.raw`(?=[ \t]{0,9}(?:\r?\n|$)|\\n|")`;

/** Patterns for keys and tokens, as their issuers write them. Repetitions are bounded, so that a search is linear. */
const KEYS = [
  { kind: "aws_key", pattern: /(?<!\w)(?:AKIA|ASIA)[A-Z2-7]{16}(?!\w)/g },
  { kind: "gcp_key", pattern: /(?<![\w-])AIza[\w-]{35}(?![\w-])/g },
  {
    kind: "github_token",
    pattern: /(?<!\w)(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})(?!\w)/g,
  },
  {
    kind: "jwt",
    pattern: /(?<![\w-])eyJ[\w-]{10,2000}\.eyJ[\w-]{10,8000}\.[\w-]{10,2000}(?![\w-])/g,
  },
  {
    kind: "private_key",
    // PEM or PGP, also in a JSON string, where lines end with `\n`, and also without its end in a text that was cut.
    pattern: new RegExp(
      String.raw`-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:${BREAK}${BASE64_OR_HEADER}${LINE_END})*` +
        String.raw`(?:${BREAK}-----END [A-Z0-9 ]{1,60}-----)?`,
      "g",
    ),
  },
] as const;

/** A part of a private key that began in another passage. */
const PART_OF_KEY = /(?:^[A-Za-z0-9+/]{64}\r?\n){6,}/gm;

export type SecretKind = (typeof KEYS)[number]["kind"];

/** The kinds of keys and tokens in a text, each once, sorted. */
export const secretsIn = (text: string): readonly SecretKind[] =>
  KEYS.filter(({ pattern }) => text.search(pattern) !== -1)
    .map(({ kind }) => kind)
    .sort();

/** The text with `[withheld: KIND]` instead of each key, token, and possible part of a private key. */
export const withholdSecrets = (text: string): string =>
  KEYS.reduce(
    (shown, { kind, pattern }) => shown.replace(pattern, `[withheld: ${kind}]`),
    text,
  ).replace(PART_OF_KEY, "[withheld: private_key]\n");

/** How to prepare texts for a host: unchanged, or without keys and tokens if `index.secrets` withholds them from remote hosts. */
export const textFor = (
  host: string,
  secrets: ConfigValues["index"]["secrets"],
): ((text: string) => string) =>
  secrets === "withhold_remote" && !isLoopbackHost(new URL(host).hostname)
    ? withholdSecrets
    : (text) => text;
