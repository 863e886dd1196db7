import { MOST_PROMPT_CHARS } from "../store/memory.ts";
import type { Memory } from "../store/memory.ts";
import { countOf, formatCount } from "./quantity.ts";
import { WORDS, ids, tableOf, time } from "./section.ts";
import type { Table } from "./section.ts";

/** A note as `memory export` writes it. */
export const exportedMemory = (note: Memory): Record<string, unknown> => ({
  memory_id: note.memory_id,
  type: note.type,
  source: note.source,
  content: note.content,
  chunk_keys: note.chunk_keys,
  dangling_keys: note.dangling_keys,
  created_at: note.created_at,
});

/** A note as `--json` prints it, with its use in prompts. */
export const memoryJson = (note: Memory): Record<string, unknown> => ({
  ...exportedMemory(note),
  in_prompts: note.in_prompts,
});

const IN_PROMPTS = { yes: "yes", left_out: "left out", no: "no" } as const;

/** Notes, one a row. */
export const memoryTable = (notes: readonly Memory[]): Table =>
  tableOf(notes, [
    ids("note", (note) => note.memory_id),
    ["type", ({ type }) => type, { leftOut: 4 }],
    ["in prompts", (note) => IN_PROMPTS[note.in_prompts], { leftOut: 3 }],
    ["evidence", formatEvidence, { leftOut: 1 }],
    ["written", (note) => time(note.created_at, "minutes"), { leftOut: 2 }],
    ["text", ({ content }) => content, { ...WORDS, least: 40 }],
  ]);

function formatEvidence({ chunk_keys: keys, dangling_keys: gone }: Memory): string | null {
  if (keys.length === 0) return null;
  const passages = countOf(keys.length, "passage");
  return gone.length === 0 ? passages : `${passages}, ${gone.length} gone`;
}

/** A warning if a note cites passages that the index no longer holds. */
export const formatDangling = ({
  memory_id: id,
  dangling_keys: gone,
}: Memory): readonly string[] =>
  gone.length === 0
    ? []
    : [
        `Note ${id} rests on passages that are no longer in the index: ${gone.join(", ")}. ` +
          `If it no longer holds: nightdesk memory delete ${id}`,
      ];

/** How prompts use a note that was just written. @param leftOut notes that no longer fit the prompts */
export function formatPromptUse({ type, in_prompts: inPrompts }: Memory, leftOut: number): string {
  if (inPrompts === "no") return `Kept. A ${type} joins no prompt.`;
  const joins = "It joins the prompts of answers and summaries, from the next job on.";
  return leftOut === 0
    ? joins
    : `${joins} Only the newest ${formatCount(MOST_PROMPT_CHARS)} characters of notes do: ${countOf(leftOut, "older note")} left out (nightdesk memory list).`;
}
