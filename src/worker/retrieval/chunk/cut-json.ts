import { cutSpan, type CutSettings, type Span } from "./cut-span.ts";
import { type JsonEntry, scanJson } from "./scan-json.ts";

/** A span with the JSON pointer of what stands in it. */
export type JsonSpan = Span & { readonly headingPath: string | null };

/**
 * Packs entries of the same array or object into spans of at most `maxChars`, which then are named by it. An entry
 * that is longer, a long string, is cut.
 */
export function cutJson(text: string, start: number, settings: CutSettings): JsonSpan[] {
  const packed: JsonEntry[] = [];
  for (const entry of scanJson(text, start, settings)) {
    const last = packed.at(-1);
    const fits = last !== undefined && entry.end - last.start <= settings.maxChars;
    if (fits && last.container === entry.container) {
      const pointer = last.container?.pointer ?? "";
      packed[packed.length - 1] = {
        ...last,
        end: entry.end,
        pointer: pointer === "" ? null : pointer,
      };
    } else packed.push(entry);
  }
  return packed.flatMap(({ pointer, ...entry }) =>
    cutSpan(text, entry, "sentences", settings).map((span) => ({ ...span, headingPath: pointer })),
  );
}
