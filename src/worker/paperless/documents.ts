import { z } from "zod";
import { cleanForDatabase } from "../../shared/terminal/styled-text.ts";
import { unavailable } from "../sync/http-place.ts";
import { checkListed, invalid } from "../sync/read-listing.ts";
import type { PaperlessApi, PaperlessPlace } from "./paperless-api.ts";

const id = z.int().positive();

const documentSchema = z.object({
  id,
  title: z.string().nullish(),
  correspondent: id.nullish(),
  document_type: id.nullish(),
  tags: z.array(id).default([]),
  custom_fields: z.array(z.object({ field: id, value: z.unknown() })).default([]),
  created: z.string().nullish(),
  added: z.string().nullish(),
  modified: z.string(),
  checksum: z.string().nullish(),
  original_file_name: z.string().nullish(),
  mime_type: z.string().nullish(),
});
/** A document as paperless-ngx lists it, with only the fields that are used. */
export type PaperlessDocument = z.infer<typeof documentSchema>;

const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ count: z.int(), next: z.string().nullish(), results: z.array(item) });

const namedSchema = z.object({
  id,
  name: z.string(),
  /** Only custom fields have it. */
  data_type: z.string().optional(),
  /** The id of the parent of a nested tag. */
  parent: id.nullish(),
});
export type Named = z.infer<typeof namedSchema>;

export type NamedKind = "correspondents" | "document_types" | "tags" | "custom_fields";
/** The objects that documents refer to by number, by kind and number; names are cleaned. */
export type PaperlessNames = Readonly<Record<NamedKind, ReadonlyMap<number, Named>>>;

const FIELDS = Object.keys(documentSchema.shape).join(",");
const PAGE_SIZE = 100;

/** All documents that the token's user may see, page by page. @throws Failure as `pagesOf` */
export const listDocuments = (
  place: PaperlessPlace,
  api: PaperlessApi,
  signal: AbortSignal,
): AsyncGenerator<readonly PaperlessDocument[]> =>
  pagesOf(
    { place, api, signal },
    `api/documents/?truncate_content=true&fields=${FIELDS}&`,
    documentSchema,
  );

/** The reason to skip a document that `readDocument` does not find. */
export const GONE = "the document is not there any more, or may not be read";

/** @returns undefined if the document is gone or may not be read */
export const readDocument = (
  api: PaperlessApi,
  number: number,
  signal: AbortSignal,
): Promise<PaperlessDocument | undefined> =>
  api.find(
    `api/documents/${number}/?truncate_content=true&fields=${FIELDS}`,
    documentSchema,
    signal,
  );

export async function readNames(
  place: PaperlessPlace,
  api: PaperlessApi,
  signal: AbortSignal,
): Promise<PaperlessNames> {
  const read = (kind: NamedKind) => readNamesOf({ place, api, signal }, kind);
  return {
    correspondents: await read("correspondents"),
    document_types: await read("document_types"),
    tags: await read("tags"),
    custom_fields: await read("custom_fields"),
  };
}

async function readNamesOf(listing: Listing, kind: NamedKind): Promise<ReadonlyMap<number, Named>> {
  const found = new Map<number, Named>();
  for await (const page of pagesOf(listing, `api/${kind}/?`, namedSchema))
    for (const one of page) found.set(one.id, { ...one, name: cleanName(one.name) });
  return found;
}

/** Creates a named object. @param type of a custom field @returns the names read again, or the status of a refusal */
export async function createNamed(
  listing: Listing,
  names: PaperlessNames,
  { kind, name, type }: { readonly kind: NamedKind; readonly name: string; readonly type?: string },
): Promise<PaperlessNames | number> {
  const body = type === undefined ? { name } : { name, data_type: type };
  const sent = { method: "POST", body, expected: [400, 403, 404] } as const;
  const { status } = await listing.api.send(`api/${kind}/`, sent, listing.signal);
  // A try whose answer was lost may have created it.
  const found = { ...names, [kind]: await readNamesOf(listing, kind) };
  return [...found[kind].values()].some((one) => one.name === name) ? found : status;
}

export type Listing = {
  readonly place: PaperlessPlace;
  readonly api: PaperlessApi;
  readonly signal: AbortSignal;
};

/**
 * The pages of a list, in the order of ids. If a document is deleted meanwhile, the others move up and one may be missed:
 * such a listing is incomplete.
 * @throws Failure SOURCE_INVALID for an incomplete listing or a link to another host, and as `read`
 */
async function* pagesOf<T extends { readonly id: number }>(
  { place, api, signal }: Listing,
  path: string,
  item: z.ZodType<T>,
): AsyncGenerator<readonly T[]> {
  const page = pageOf(item);
  let [listed, last] = [0, 0];
  let next: string | null | undefined = `${path}ordering=id&page_size=${PAGE_SIZE}`;
  let count: number | undefined;
  while (next != null) {
    const found: z.infer<typeof page> = await api.read(next, page, signal);
    count ??= found.count;
    if (found.count !== count)
      throw unavailable(place, place, "its list changed while it was read");
    for (const one of found.results) {
      if (one.id <= last) throw invalid(place.source, "does not come in the order of its ids");
      last = one.id;
    }
    listed += found.results.length;
    if (found.results.length === 0 && found.next != null)
      throw invalid(place.source, "has an empty page before its end");
    checkListed(place.source, listed);
    yield found.results;
    next = found.next;
  }
  if (listed !== count)
    throw invalid(place.source, `has ${listed} entries and says that it has ${String(count)}`);
}

const MOST_NAME_CHARS = 500;

/** Puts a name on one line, without control characters and invisible ones. */
export const cleanName = (text: string): string =>
  cleanForDatabase(text)
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim()
    .slice(0, MOST_NAME_CHARS)
    .toWellFormed();

/** The metadata of a document, with names in place of numbers. */
const descriptionSchema = z.object({
  title: z.string(),
  correspondent: z.string().nullable(),
  document_type: z.string().nullable(),
  tags: z.array(z.string()),
  created: z.string().nullable(),
  added: z.string().nullable(),
  custom_fields: z.record(z.string(), z.unknown()),
});
export type Description = Readonly<z.infer<typeof descriptionSchema>>;

/** The description that the last sync stored; the current one if none is stored. */
export const lastDescription = (
  stored: unknown,
  document: PaperlessDocument,
  names: PaperlessNames,
): Description => descriptionSchema.safeParse(stored).data ?? describeDocument(document, names);

export function describeDocument(document: PaperlessDocument, names: PaperlessNames): Description {
  const nameOf = (kind: NamedKind, number: number): string =>
    names[kind].get(number)?.name ?? `#${number}`;
  const nameOrNull = (kind: NamedKind, number: number | null | undefined): string | null =>
    number == null ? null : nameOf(kind, number);
  const { title, correspondent, document_type, tags, created, added, custom_fields } = document;
  return {
    title: cleanName(title ?? ""),
    correspondent: nameOrNull("correspondents", correspondent),
    document_type: nameOrNull("document_types", document_type),
    tags: tags.map((tag) => nameOf("tags", tag)).sort(),
    created: created == null ? null : cleanName(created),
    added: added == null ? null : cleanName(added),
    custom_fields: Object.fromEntries(
      custom_fields.map(({ field, value }) => [nameOf("custom_fields", field), cleanValue(value)]),
    ),
  };
}

/** Cleans every string as the database needs it. */
const cleanValue = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value ?? null, (_, part: unknown) =>
      typeof part === "string" ? cleanForDatabase(part) : part,
    ),
  );
