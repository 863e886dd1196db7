// Persons, and tasks with owners and days, of the short texts of tests/corpora/labelled-texts, as the extractive model
// finds them. A task counts as found when half of all its words are shared; owners and days are judged of the tasks that were found.
// Labels are judged by bench/labels.ts.
// node --import ./bench/register.js bench/extraction.ts [--items]
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findActions } from "../src/worker/models/extractive/actions.ts";
import { findPeople } from "../src/worker/models/extractive/people.ts";
import { wordsOf } from "../src/worker/text/content-words.ts";

type Labelled = {
  readonly id: string;
  readonly language: string;
  readonly label: string;
  readonly text: string;
  readonly people: readonly { readonly name: string; readonly role: string | null }[];
  readonly organisations: readonly string[];
  readonly actions: readonly {
    readonly action: string;
    readonly owner: string | null;
    readonly due: string | null;
  }[];
};

const { values: flags } = parseArgs({ options: { items: { type: "boolean", default: false } } });
const file = join(import.meta.dirname, "../tests/corpora/labelled-texts/texts.jsonl");
const texts = readFileSync(file, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Labelled);

const evidenceOf = ({ id, text }: Labelled) => [
  { number: 1, path: `${id}.md`, title: null, headingPath: null, text },
];

for (const language of ["all", ...new Set(texts.map((text) => text.language))]) {
  const chosen = texts.filter((text) => language === "all" || text.language === language);
  console.log(`${language}: ${chosen.length} texts`);
  judgePeople(chosen);
  judgeActions(chosen);
}

function judgePeople(chosen: readonly Labelled[]): void {
  let [found, right, wanted, bodies] = [0, 0, 0, 0];
  for (const text of chosen) {
    const names = findPeople(evidenceOf(text)).map(({ name }) => name);
    const expected = text.people.map(({ name }) => name);
    const isExpected = (name: string) => expected.some((one) => isSame(one, name));
    found += names.length;
    right += names.filter(isExpected).length;
    wanted += expected.length;
    bodies += names.filter((name) => text.organisations.some((one) => isSame(one, name))).length;
    if (!flags.items) continue;
    const wrong = names.filter((name) => !isExpected(name));
    const missed = expected.filter((one) => !names.some((name) => isSame(one, name)));
    if (wrong.length + missed.length > 0)
      console.log(`${text.id} persons: wrong ${wrong.join("; ")} | missed ${missed.join("; ")}`);
  }
  console.log(
    `  persons  precision ${share(right, found)}  recall ${share(right, wanted)}  organisations among them ${bodies}`,
  );
}

function judgeActions(chosen: readonly Labelled[]): void {
  let [found, right, wanted] = [0, 0, 0];
  const fields = { owner: [0, 0, 0], due: [0, 0, 0] };
  for (const text of chosen) {
    const actions = findActions(evidenceOf(text));
    const left = [...actions];
    found += actions.length;
    wanted += text.actions.length;
    for (const expected of text.actions) {
      const at = left.findIndex(({ action }) => overlaps(action, expected.action));
      const action = left[at];
      if (action === undefined) {
        if (flags.items) console.log(`${text.id} missed: ${expected.action}`);
        continue;
      }
      left.splice(at, 1);
      right += 1;
      for (const field of ["owner", "due"] as const) {
        const [told, asked] = [action[field], expected[field]];
        const isRight = told !== null && asked !== null && isPart(told, asked);
        fields[field][0] = (fields[field][0] ?? 0) + (isRight ? 1 : 0);
        fields[field][1] = (fields[field][1] ?? 0) + (told === null ? 0 : 1);
        fields[field][2] = (fields[field][2] ?? 0) + (asked === null ? 0 : 1);
        if (flags.items && !isRight && (told ?? asked) !== null)
          console.log(`${text.id} ${field}: ${told ?? "-"} for ${asked ?? "-"}: ${action.action}`);
      }
    }
    if (flags.items)
      for (const { action } of left) console.log(`${text.id} [${text.label}] wrong: ${action}`);
  }
  console.log(`  actions  precision ${share(right, found)}  recall ${share(right, wanted)}`);
  for (const [field, [of = 0, told = 0, asked = 0]] of Object.entries(fields))
    console.log(
      `    ${field.padEnd(6)} precision ${share(of, told)}  recall ${share(of, asked)} of ${asked}`,
    );
}

function isSame(one: string, other: string): boolean {
  return wordsOf(one).join(" ") === wordsOf(other).join(" ");
}

/** "Maria" is "Maria Keller", "by Friday" is "Friday". */
function isPart(told: string, asked: string): boolean {
  const [short, long] = [wordsOf(told), wordsOf(asked)].sort((a, b) => a.length - b.length);
  return (short ?? []).length > 0 && (short ?? []).every((word) => long?.includes(word));
}

function overlaps(one: string, other: string): boolean {
  const [first, second] = [new Set(wordsOf(one)), new Set(wordsOf(other))];
  const shared = [...first].filter((word) => second.has(word)).length;
  return shared * 2 >= first.size + second.size - shared;
}

function share(part: number, whole: number): string {
  return `${(part / Math.max(1, whole)).toFixed(2)} (${part}/${whole})`;
}
