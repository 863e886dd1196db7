/** Documents that may be found, and how many chunks of them. */
export type SearchFilter = {
  /** Paths begin with this, relative to the work root. */
  readonly pathPrefix: string | undefined;
  readonly source: string | undefined;
  readonly limit: number;
};

export const isFiltered = ({ pathPrefix, source }: SearchFilter): boolean =>
  pathPrefix !== undefined || source !== undefined;

/** The chunks that pass: $2 is a pattern of `like`, $3 a source or null. A `with` item named `allowed`. */
export const ALLOWED_CHUNKS = `
  allowed as materialized (
    select chunk_id from nightdesk_data.chunks join nightdesk_data.documents d using (doc_id)
     where d.path like $2::text and d.source = coalesce($3::text, d.source))`;

/** Values of $2 and $3; without a filter there are none. */
export function filterValues(filter: SearchFilter): (string | null)[] {
  if (!isFiltered(filter)) return [];
  return [`${(filter.pathPrefix ?? "").replace(/[\\%_]/g, "\\$&")}%`, filter.source ?? null];
}
