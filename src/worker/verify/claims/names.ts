import type { TextSpan } from "../../text/spans.ts";
import { foldWord } from "../../../shared/text/normalise-text.ts";
import type { ClaimLanguage, Term } from "./terms.ts";

/** Neighbouring words with capital letters that name one thing. */
export type Name = TextSpan & {
  readonly text: string;
  /** Folded words of the name. */
  readonly words: readonly string[];
  /** Whether it may be a common noun: at the start of a sentence, or German. */
  readonly isWeak: boolean;
};

const TITLES: ReadonlySet<string> = new Set(
  "mr mrs ms miss dr prof sir herr herrn frau fraulein familie firma m mme mlle monsieur madame sr sra senor senora don dona dra ltd gmbh inc co llc ag sa sl plc e v i".split(
    " ",
  ),
);
const GERMAN_TITLES: ReadonlySet<string> = new Set(
  "herr herrn frau fraulein firma dr prof familie".split(" "),
);
/** Prepositions that open a sentence and are not part of a name: "Laut Herrn Wessels". */
const OPENING: ReadonlySet<string> = new Set("laut gemass dank trotz wegen selon segun".split(" "));
const CAPITAL = /^\p{Lu}/u;
const JOINED =
  /^(?:[ \u00A0]|-|['’]|[ \u00A0](?:&|of|de|del|della|von|van|du|la|le|des|d['’]|y|et|zu|am|der)[ \u00A0]|\. )$/u;

const JOINED_IN_GERMAN = /^(?:[ \u00A0]|-|[ \u00A0](?:&|von)[ \u00A0])$/u;

/** The names of a claim, in order. */
export function findNames(
  text: string,
  terms: readonly Term[],
  language: ClaimLanguage | null,
): Name[] {
  if (language === "japanese") return findJapanese(text);
  const names: Name[] = [];
  let run: Term[] = [];
  const close = (): void => {
    const name = nameOf(run, text, language);
    if (name !== null) names.push(name);
    run = [];
  };
  for (const term of terms) {
    const last = run.at(-1);
    if (!CAPITAL.test(text.slice(term.start, term.start + 2))) continue;
    const joined = language === "german" ? JOINED_IN_GERMAN : JOINED;
    const isJoined =
      last !== undefined &&
      joined.test(text.slice(last.end, term.start)) &&
      !(language === "german" && term.start > last.end + 1 && GERMAN_TITLES.has(term.word));
    if (!isJoined) close();
    run.push(term);
  }
  close();
  const quoted = [...text.matchAll(IN_QUOTES)].map(({ index, groups, 0: whole }): Name => {
    const name = groups?.["name"] ?? "";
    const words = readWords(name);
    return { start: index, end: index + whole.length, text: name, words, isWeak: false };
  });
  return [...names, ...quoted.filter(({ words }) => words.length > 0)];
}

/** „Frösche“: quoted words with capital letters are a name. */
const IN_QUOTES =
  /["„“«»](?<name>\p{Lu}[\p{L}\p{M}]{1,30}(?:[ -]\p{Lu}[\p{L}\p{M}]{1,30}){0,2})["“”«»]/gu;
const readWords = (name: string): string[] => name.split(/[ -]/).map(foldWord);

const STARTS = /(?:^|[.!?:;]["'”’»)]?[ \u00A0]+)["'“‘„«»(¿¡*_-]{0,4}$/u;

function nameOf(run: readonly Term[], text: string, language: ClaimLanguage | null): Name | null {
  const [first] = run;
  if (first === undefined) return null;
  const isStart = STARTS.test(text.slice(Math.max(0, first.start - 8), first.start));
  const hasTitle = run.some(({ word }) => GERMAN_TITLES.has(word));
  const kept = run.filter(
    (term, at) =>
      !TITLES.has(term.word) &&
      !(at === 0 && isStart && (run.length === 1 || !term.isContent || OPENING.has(term.word))) &&
      (term.isContent || term.end - term.start === 1),
  );
  const [begin, end] = [kept[0]?.start ?? 0, kept.at(-1)?.end ?? 0];
  if (kept.length === 0) return null;
  const isWeak = language === "german" && !hasTitle && !isApposition(kept, text);
  return {
    start: begin,
    end,
    text: text.slice(begin, end),
    words: kept.map(({ word }) => word),
    isWeak,
  };
}

/** "Werft Lüdtke", "Bernd Zollinger": the second of two German nouns in a row is a name, unless a number counts the first. */
const isApposition = (run: readonly Term[], text: string): boolean =>
  run.length > 1 &&
  !/[\d%][ \u00A0]?$/u.test(text.slice(0, run[0]?.start ?? 0)) &&
  !/-/.test(text.slice(run[0]?.start ?? 0, run.at(-1)?.end));

const PERSON =
  /(?<name>[\p{Script=Han}\p{Script=Katakana}ー々]{1,12}[ \u3000]?[\p{Script=Han}\p{Script=Katakana}ー々]{0,12})(?:さん|氏|(?<![仕同多模一各異])様(?![式子々態])|先生|医師|教授)/gu;
const QUOTED = /[「『](?<name>[^」』]{1,40})[」』]/gu;

const findJapanese = (text: string): Name[] =>
  [...text.matchAll(PERSON), ...text.matchAll(QUOTED)].map(({ index, groups, 0: whole }) => {
    const name = groups?.["name"] ?? "";
    return { start: index, end: index + whole.length, text: name, words: [name], isWeak: false };
  });
