import type { RunDetail } from "../../shared/db/jobs/read-runs.ts";

type Lines = { readonly line_start: number | null; readonly line_end: number | null };

/** `notes/brakes.md#Bleeding:10-14` */
export function placeOf(path: string, heading: string | null, lines: Lines): string {
  const { line_start: start, line_end: end } = lines;
  const range =
    start === null ? "" : start === end || end === null ? `:${start}` : `:${start}-${end}`;
  return `${path}${heading === null ? "" : `#${heading}`}${range}`;
}

type Span = Lines & Pick<RunDetail["support"][number], "number" | "path">;

/** `[2] notes/brakes.md:10-14`; `nowhere` where a span was not found. */
export const spanPlace = (span: Span): string =>
  span.path === null ? "nowhere" : `[${span.number ?? ""}] ${placeOf(span.path, null, span)}`;
