/** Lines of a file that was read. */
export type Place = {
  readonly path: string;
  readonly line_start: number;
  readonly line_end: number;
};

/**
 * The address of evidence: its path, each part percent-encoded, so that no name becomes a scheme, a host or a way out.
 * @param base from the document that links to the work root, "" or ending in `/`
 * @returns undefined for a path that is none below the work root: it is shown without a link
 */
export function evidenceHref(
  { path, line_start, line_end }: Place,
  base: string,
): string | undefined {
  const parts = path.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) return undefined;
  const lines = line_start === line_end ? `L${line_start}` : `L${line_start}-L${line_end}`;
  return `${base}${parts.map(encodePart).join("/")}#${lines}`;
}

/** encodeURIComponent leaves `'()*!` as they are, which end a link in Markdown or an attribute. */
const encodePart = (part: string): string =>
  encodeURIComponent(part.toWellFormed()).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** `notes/brakes.md, lines 3-9`. */
export const describePlace = ({ path, line_start, line_end }: Place): string =>
  line_start === line_end
    ? `${path}, line ${line_start}`
    : `${path}, lines ${line_start}-${line_end}`;
