import { z } from "zod";
import type { Queryable } from "./connection/database.ts";
import { anyRow, camelRow, oneRowOf, rowOf, rowsOf, valuesOf } from "./connection/rows.ts";

export const MEMORY_TYPES = [
  "preference",
  "project_state",
  "constraint",
  "workflow_rule",
  "user_fact",
] as const;
export const MEMORY_SOURCES = ["manual", "derived_from_evidence"] as const;

export type MemoryType = (typeof MEMORY_TYPES)[number];
export type MemorySource = (typeof MEMORY_SOURCES)[number];

/** Most code points of one note; the table refuses more. */
export const MOST_NOTE_CHARS = 4_000;
/** Most code points of all notes in a prompt; the oldest notes beyond are left out. */
export const MOST_PROMPT_CHARS = 8_000;
/** Code points of a note's label in a prompt: a dash, its type, blanks. */
const LABEL_CHARS = 20;

/**
 * SQL: the notes for prompts, with `fits` for the newest ones until the prompt's limit. A line feed counts three times, because
 * each further line of a note is indented by two blanks.
 */
const FOR_PROMPTS = `select memory_id, seq, type, source, content,
         sum(length(replace(content, E'\\n', '---')) + ${LABEL_CHARS}) over (order by seq desc) <= ${MOST_PROMPT_CHARS} as fits
    from nightdesk_data.memory where type in ('preference', 'constraint', 'workflow_rule')`;

const memorySchema = z.object({
  memory_id: z.string(),
  type: z.enum(MEMORY_TYPES),
  source: z.enum(MEMORY_SOURCES),
  content: z.string(),
  chunk_keys: z.array(z.string()),
  /** Keys that are no longer in the index. */
  dangling_keys: z.array(z.string()),
  /** `no`: its type is not for prompts. `left_out`: newer notes use up the space. */
  in_prompts: z.enum(["yes", "left_out", "no"]),
  created_at: z.date(),
});
export type Memory = z.infer<typeof memorySchema>;

const SELECT = `select v.memory_id, v.type, v.source, v.content, v.chunk_keys, v.dangling_keys, v.created_at,
       case p.fits when true then 'yes' when false then 'left_out' else 'no' end as in_prompts
  from nightdesk.memory v
  join nightdesk_data.memory m using (memory_id)
  left join (${FOR_PROMPTS}) p using (memory_id)`;

/** Notes, newest first. @param type one type, or null for all */
export const listMemory = (db: Queryable, type: MemoryType | null): Promise<readonly Memory[]> =>
  rowsOf(db, memorySchema, [type])`
     ${SELECT} where $1::text is null or v.type = $1 order by m.seq desc`;

/** @param memoryId a UUID */
export const selectMemory = (db: Queryable, memoryId: string): Promise<Memory | undefined> =>
  rowOf(db, memorySchema, [memoryId])`${SELECT} where memory_id = $1`;

export type NewMemory = {
  readonly type: MemoryType;
  readonly source: MemorySource;
  /** Trimmed, 1 to 4,000 characters. */
  readonly content: string;
  /** Without repetitions. */
  readonly chunkKeys: readonly string[];
};

const insertedSchema = camelRow({
  memory_id: z.string().nullable(),
  unknown_keys: z.array(z.string()),
});

/**
 * Inserts a note if the index has all its chunk keys, else nothing.
 * @returns its id, or the missing keys, in the given order
 */
export async function insertMemory(
  db: Queryable,
  { type, source, content, chunkKeys }: NewMemory,
): Promise<{ readonly memoryId: string } | { readonly unknownKeys: readonly string[] }> {
  const { memoryId, unknownKeys } = await oneRowOf(db, insertedSchema, [
    type,
    source,
    content,
    chunkKeys,
  ])`
     with unknown as (
       select key, place from unnest($4::text[]) with ordinality as named (key, place)
        where not exists (select from nightdesk_data.chunks where chunk_key = key)),
     inserted as (
       insert into nightdesk_data.memory (type, source, content, chunk_keys)
       select $1, $2, $3, $4 where not exists (select from unknown)
       returning memory_id)
     select (select memory_id from inserted) as memory_id,
            array(select key from unknown order by place) as unknown_keys`;
  return memoryId === null ? { unknownKeys } : { memoryId };
}

/** @param memoryId a UUID @returns whether there was such a note */
export const deleteMemory = (db: Queryable, memoryId: string): Promise<boolean> =>
  anyRow(db, [memoryId])`delete from nightdesk_data.memory where memory_id = $1`;

const promptNoteSchema = z.object({
  memory_id: z.string(),
  type: z.enum(MEMORY_TYPES),
  source: z.enum(MEMORY_SOURCES),
  content: z.string(),
  fits: z.boolean(),
});
export type PromptNote = z.infer<typeof promptNoteSchema>;

/** Preferences, constraints and workflow rules, oldest first. `fits`: among the newest that fit into 8,000 characters. */
export const selectPromptNotes = (db: Queryable): Promise<readonly PromptNote[]> =>
  rowsOf(db, promptNoteSchema)`
     select memory_id, type, source, content, fits from (${FOR_PROMPTS}) p order by seq`;

/** Ids of the notes for prompts that newer notes leave no space for, oldest first. */
export const selectLeftOutNotes = (db: Queryable): Promise<readonly string[]> =>
  valuesOf(db, z.string())`
     select memory_id from (${FOR_PROMPTS}) p where not fits order by seq`;

const healthSchema = z.object({ notes: z.coerce.number(), dangling: z.array(z.string()) });

/** The number of notes, and the ids of those with passages that the index no longer has, oldest first. */
export const selectMemoryHealth = (db: Queryable): Promise<z.infer<typeof healthSchema>> =>
  oneRowOf(db, healthSchema)`
     select (select count(*) from nightdesk_data.memory) as notes,
            array(select v.memory_id::text from nightdesk.memory v join nightdesk_data.memory m using (memory_id)
                   where cardinality(v.dangling_keys) > 0 order by m.seq) as dangling`;
