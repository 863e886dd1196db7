import { refuse } from "../../../shared/failure.ts";
import type { Refusal } from "../../../shared/failure.ts";
import { isOverflow } from "../parts/condense-groups.ts";
import { askDigest } from "./ask-digest.ts";
import type { DigestRun } from "./ask-digest.ts";
import { fits, groupItems } from "./digest-item.ts";
import type { DigestItem } from "./digest-item.ts";
import type { DigestLine } from "./judge-digest.ts";

/** A line of the finished digest, with the numbers of the children that it cites. */
export type ToldLine = { readonly text: string; readonly children: readonly number[] };

export type Told = {
  readonly kind: "told";
  readonly lines: readonly ToldLine[];
  readonly levels: number;
};

/** An estimate below this is not gone by: the host says soon enough what overflows. */
const FEWEST_ROOM = 1_200;

/**
 * The digest of items at once where they fit the model's window; else of groups of neighbours, and then of the lines
 * about them, in as many levels as it takes. A line of an upper level cites lines, and stands for the children that
 * those cite: what the digest says leads to children, whatever lies between.
 *
 * Refusals: those of `askTwice`; CONTEXT_OVERFLOW where not even a level makes fewer of them.
 */
export async function digestInLevels(
  run: DigestRun,
  items: readonly DigestItem[],
  room: number,
  footer: string,
): Promise<Told | Refusal> {
  let layer = items;
  let groupRoom = Math.max(room, FEWEST_ROOM);
  for (let levels = 0; ; levels += 1) {
    const whole = fits(layer, groupRoom)
      ? await askDigest(run, layer, { pass: "second", footer, lines: run.lines })
      : null;
    if (whole?.kind === "kept")
      return { kind: "told", lines: tell(whole.value, layer, levels), levels };
    if (whole !== null && !isOverflow(whole)) return whole;
    // What overflowed although it should have fitted is denser than was thought.
    if (whole !== null) groupRoom = Math.floor(groupRoom / 2);
    const next = await nextLayer(run, layer, groupRoom, footer);
    if ("kind" in next) return next;
    if (next.length >= layer.length) return tooSmall(run);
    layer = next;
  }
}

async function nextLayer(
  run: DigestRun,
  layer: readonly DigestItem[],
  room: number,
  footer: string,
): Promise<readonly DigestItem[] | Refusal> {
  const next: DigestItem[] = [];
  for (const group of groupItems(layer, room)) {
    const lines = Math.min(run.lines, Math.max(1, Math.floor(group.length / 2)));
    const asked = await askDigest(run, group, { pass: "part", footer, lines });
    if (asked.kind === "refused") {
      if (asked.code === "EVIDENCE_NOT_ACQUIRED") continue;
      return asked;
    }
    for (const line of asked.value) next.push(itemOf(line, group));
  }
  return next.length === 0 ? nothingTold() : next;
}

function itemOf({ words, numbers }: DigestLine, group: readonly DigestItem[]): DigestItem {
  const cited = numbers.flatMap((number) => group[number - 1] ?? []);
  const paths = [...new Set(cited.map(({ path }) => path))];
  const level = 1 + Math.max(0, ...cited.map((item) => item.level));
  const [first = "", ...others] = paths;
  const path = others.length === 0 ? first : `${first} and ${String(others.length)} more`;
  return { text: words, path, children: childrenOf(cited), level };
}

const childrenOf = (items: readonly DigestItem[]): number[] =>
  [...new Set(items.flatMap(({ children }) => children))].sort((one, other) => one - other);

/** At one level the numbers are the children's own, and the line stays as it was written. */
const tell = (
  lines: readonly DigestLine[],
  layer: readonly DigestItem[],
  levels: number,
): ToldLine[] =>
  lines.map(({ text, words, numbers }) => {
    const children = childrenOf(numbers.flatMap((number) => layer[number - 1] ?? []));
    return { children, text: levels === 0 ? text : `- ${words} [${children.join(", ")}]` };
  });

const nothingTold = (): Refusal =>
  refuse("EVIDENCE_NOT_ACQUIRED", "The model finds nothing to tell in the answers of the jobs.");

const tooSmall = ({ model }: DigestRun): Refusal =>
  refuse(
    "CONTEXT_OVERFLOW",
    `The window of "${model.name}" is too small to put the lines about the jobs together. Raise model.num_ctx.`,
  );
