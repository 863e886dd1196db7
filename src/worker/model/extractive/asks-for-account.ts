import { stemWord } from "./stem-word.ts";
import { wordsOf } from "./words.ts";

const split = (words: string): string[] => words.trim().split(/\s+/);

/** Words by which a question asks what people said and thought, or how things stand. */
const ACCOUNT = split(`
  summarize summarise summary describe description explain elaborate outline discuss discussed discussion discussions
  debate debated think thought opinion opinions view views attitude say said talk talked comment comments commented
  respond responded response react reaction introduce introduced conclude concluded conclusion conclusions decide decided
  decision decisions agree agreed disagree disagreed recommend recommended suggest suggested propose proposed argue argued
  impact effect effects consequences controversy policy solution solutions future about
`);
/** Further words that such a question is made of. */
const AROUND = split(`
  discussing talking presenting presentation presented present group team meeting mate mates member members people problem
  problems issue issues topic topics reason reasons put forward brief mainly regard regarding related towards toward feel
  felt believe believed consider considered current status plan learn learned suggestion proposal questioning
`);
const ASKING = new Set(ACCOUNT);

/** Stems of words that ask for an account and that none has to hold. */
export const FRAME: ReadonlySet<string> = new Set([...ACCOUNT, ...AROUND].map(stemWord));

/** "How did" and "how would" ask for an account, "how many" for a fact. */
const MANNER = / how (?:is|are|was|were|do|does|did|will|would|can|could|should|has|have|had) /;
const FACT = / (?:how (?:many|much|long|often|far|quickly|soon)|within (?:which|what)) /;

/**
 * Whether a question asks for an account ("What did she think of the bell?", "Summarize…") rather than for
 * a fact that stands in one sentence.
 */
export function asksForAccount(question: string): boolean {
  const list = wordsOf(question);
  const words = ` ${list.join(" ")} `;
  return !FACT.test(words) && (MANNER.test(words) || list.some((word) => ASKING.has(word)));
}
