import { setTimeout as delay } from "node:timers/promises";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { endWrites } from "../../shared/store/index/write-backs.ts";
import type { WriteBack, WriteEnd } from "../../shared/store/index/write-backs.ts";
import { numberOf } from "../sync/paperless.ts";
import { describeDocument, readDocument } from "./documents.ts";
import type { Description, Listing, PaperlessDocument, PaperlessNames } from "./documents.ts";
import { findNamed, isSame, textOf, standingOf } from "./plan-writes.ts";
import type { Standing, Target, WriteBackSettings } from "./plan-writes.ts";

/** A source into which extractions are written. */
export type OpenedSource = Listing & {
  readonly db: Queryable;
  readonly settings: WriteBackSettings;
  /** Read again after something was created. */
  names: PaperlessNames;
};

/** `stands`: it was there before. `pending`: it was sent, or begun, and has not appeared yet. */
export type End = {
  readonly state: "written" | "stands" | "withheld" | "pending" | "undone" | "kept";
  readonly reason: string | null;
  /** Of a withheld value: a person's decision can help. */
  readonly asks?: true;
};

export const keyOf = ({ kind, name }: Pick<Target, "kind" | "name">): string =>
  `${kind} ${kind === "tag" ? name.toLowerCase() : name}`;

/** By `keyOf`. */
type Settled = ReadonlyMap<string, End>;
type Seen = { readonly document: PaperlessDocument; readonly seen: Description };

/** A write or its undoing, with the content before and after it. */
type Change = { readonly row: WriteBack; readonly from: Standing; readonly to: Standing };

/**
 * Sends those recorded writes to one document that are not in effect yet, reads the document, and records the result.
 * @throws Failure as requestPlace; the next run then settles the recorded writes
 */
export const settleWrites = (
  source: OpenedSource,
  rows: readonly WriteBack[],
  seen: Seen,
): Promise<Settled> => {
  const changes = rows.map((row) => ({ row, from: standingBefore(row), to: standingAfter(row) }));
  return applyChanges(source, changes, seen, "written");
};

/** Restores the content from before the writes, where the written content is unchanged. */
export const undoWrites = (
  source: OpenedSource,
  rows: readonly WriteBack[],
  seen: Seen,
): Promise<Settled> => {
  const changes = rows.map((row) => ({ row, from: standingAfter(row), to: standingBefore(row) }));
  return applyChanges(source, changes, seen, "undone");
};

const standingBefore = (row: WriteBack): Standing => row.before as Standing;
const standingAfter = (row: WriteBack): Standing => row.after as Standing;

async function applyChanges(
  source: OpenedSource,
  changes: readonly Change[],
  { document, seen }: Seen,
  done: "written" | "undone",
): Promise<Settled> {
  const [first] = changes;
  if (first === undefined) return new Map();
  const { source: name, remoteId } = first.row;
  const { names } = source;
  const due = changes.filter((change) => isDue(change, { document, names }));
  const statusOf = await sendChanges(source, numberOf(remoteId), due);
  const isSeen = (now: PaperlessDocument): boolean =>
    due.every(
      ({ row, to }) => statusOf(row) !== 200 || isCurrent(to, row, { document: now, names }),
    );
  const now = (await readUntilSeen(source, numberOf(remoteId), isSeen)) ?? document;
  const ends = changes.map((change) => {
    const sent = due.includes(change) ? statusOf(change.row) : undefined;
    return { row: change.row, ...endOf(change, { document: now, names }, sent, done) };
  });
  const noted = ends.flatMap(({ row: { writeId }, state, reason }): WriteEnd[] =>
    state === "pending" || state === "stands" ? [] : [{ writeId, state, reason }],
  );
  const own = ends.filter(({ state }) => state === done).map(({ row }) => row);
  const description = mergeOwn(seen, describeDocument(now, names), own);
  await endWrites(source.db, { source: name, remoteId }, noted, description);
  return new Map(ends.map(({ row, state, reason }) => [keyOf(row), { state, reason }]));
}

type Current = { readonly document: PaperlessDocument; readonly names: PaperlessNames };

const isCurrent = (standing: Standing, { kind, name }: WriteBack, current: Current): boolean =>
  isSame(standing, standingOf({ kind, name }, current));

const isDue = (change: Change, current: Current): boolean =>
  !isCurrent(change.to, change.row, current) &&
  isCurrent(change.from, change.row, current) &&
  !removesChildTags(change, current);

/** @param sent the response status; undefined if nothing was sent */
function endOf(
  { row, from, to }: Change,
  current: Current,
  sent: number | undefined,
  done: "written" | "undone",
): End {
  const state = done === "written" ? "withheld" : "kept";
  if (isCurrent(to, row, current)) return { state: done, reason: null };
  if (!isCurrent(from, row, current))
    return {
      state,
      reason: `somebody has changed it, to ${textOf(standingOf(row, current))}`,
    };
  if (sent === undefined)
    return { state, reason: "a tag below it stands there, which would go with it" };
  if (
    row.kind === "custom_field" &&
    findNamed(current.names, "custom_fields", row.name).length === 0
  )
    return { state, reason: "the custom field was deleted in paperless-ngx" };
  return sent === 200
    ? { state: "pending", reason: "it was sent, and is not seen there yet" }
    : { state, reason: `paperless-ngx answered ${sent}` };
}

/** Whether the change removes a tag and, with it, nested tags that somebody has set. */
const removesChildTags = ({ row, from, to }: Change, { document, names }: Current): boolean =>
  row.kind === "tag" &&
  to === null &&
  from !== null &&
  "id" in from &&
  document.tags.some((tag) => names.tags.get(tag)?.parent === from.id);

/**
 * Sends custom fields first, because they hold the evidence of the others. Fields and tags go by bulk edits, because PATCH
 * replaces all of them.
 * @returns the status of each change: 200, or that of the first refusal, after which nothing is sent
 */
async function sendChanges(
  { api, names, signal }: OpenedSource,
  id: number,
  changes: readonly Change[],
): Promise<(row: WriteBack) => number> {
  const accepted = new Set<WriteBack["kind"]>();
  const requests = [
    ...editFields(id, changes, names),
    ...editTags(id, changes),
    ...patchReferences(id, changes),
  ];
  for (const { kinds, path, method, body } of requests) {
    const { status } = await api.send(path, { method, body, expected: [400, 403, 404] }, signal);
    if (status >= 400) return ({ kind }) => (accepted.has(kind) ? 200 : status);
    for (const kind of kinds) accepted.add(kind);
  }
  return () => 200;
}

function editFields(
  id: number,
  changes: readonly Change[],
  names: PaperlessNames,
): readonly Edit[] {
  const fields = changes.flatMap(({ row, to }) =>
    row.kind === "custom_field"
      ? findNamed(names, "custom_fields", row.name).map((field) => ({ id: field.id, to }))
      : [],
  );
  if (fields.length === 0) return [];
  const added = fields.flatMap(({ id: field, to }): [number, unknown][] =>
    to !== null && "value" in to ? [[field, to.value]] : [],
  );
  return bulkEdit("custom_field", id, {
    add_custom_fields: Object.fromEntries(added),
    remove_custom_fields: fields.filter(({ to }) => to === null).map((one) => one.id),
  });
}

function editTags(id: number, changes: readonly Change[]): readonly Edit[] {
  const tags = changes.flatMap(({ row, from, to }) => {
    const tag = to ?? from;
    return row.kind === "tag" && tag !== null && "id" in tag ? [{ id: tag.id, to }] : [];
  });
  if (tags.length === 0) return [];
  return bulkEdit("tag", id, {
    add_tags: tags.filter(({ to }) => to !== null).map((tag) => tag.id),
    remove_tags: tags.filter(({ to }) => to === null).map((tag) => tag.id),
  });
}

function patchReferences(id: number, changes: readonly Change[]): readonly Edit[] {
  const references = changes.flatMap(({ row, to }) =>
    row.kind === "correspondent" || row.kind === "document_type"
      ? [[row.kind, to !== null && "id" in to ? to.id : null]]
      : [],
  );
  if (references.length === 0) return [];
  const body: unknown = Object.fromEntries(references);
  const kinds = ["correspondent", "document_type"] as const;
  return [{ kinds, path: `api/documents/${id}/`, method: "PATCH", body }];
}

type Edit = {
  /** Of its changes. */
  readonly kinds: readonly WriteBack["kind"][];
  readonly path: string;
  readonly method: "POST" | "PATCH";
  readonly body: unknown;
};

const bulkEdit = (
  kind: "custom_field" | "tag",
  id: number,
  parameters: object,
): readonly Edit[] => [
  {
    kinds: [kind],
    path: "api/documents/bulk_edit/",
    method: "POST",
    body: { documents: [id], method: `modify_${kind}s`, parameters },
  },
];

const MOST_READS = 5;
const BASE_DELAY_MS = 100;

/** Reads until the changes appear: paperless-ngx may apply bulk edits after its answer. */
async function readUntilSeen(
  { api, signal }: OpenedSource,
  id: number,
  isSeen: (now: PaperlessDocument) => boolean,
): Promise<PaperlessDocument | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const now = await readDocument(api, id, signal);
    if (now === undefined || isSeen(now) || attempt === MOST_READS) return now;
    await delay(BASE_DELAY_MS * 2 ** attempt, undefined, { signal });
  }
}

/** The stored description with our own writes added, so that somebody else's change is still recognized as one. */
function mergeOwn(seen: Description, now: Description, own: readonly WriteBack[]): Description {
  const keys = new Set(own.map((row) => keyOf(row).toLowerCase()));
  const isOwn = (kind: WriteBack["kind"], name: string): boolean =>
    keys.has(keyOf({ kind, name }).toLowerCase());
  const fields = (of: Description) => Object.entries(of.custom_fields);
  return {
    ...seen,
    correspondent: (isOwn("correspondent", "correspondent") ? now : seen).correspondent,
    document_type: (isOwn("document_type", "document_type") ? now : seen).document_type,
    tags: [
      ...seen.tags.filter((tag) => !isOwn("tag", tag)),
      ...now.tags.filter((tag) => isOwn("tag", tag)),
    ].sort(),
    custom_fields: Object.fromEntries([
      ...fields(seen).filter(([name]) => !isOwn("custom_field", name)),
      ...fields(now).filter(([name]) => isOwn("custom_field", name)),
    ]),
  };
}
