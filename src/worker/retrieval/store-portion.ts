import { recordFailures, touchDocuments } from "../../shared/store/index/documents.ts";
import { removeDocuments, writeDocuments } from "../../shared/store/index/write-documents.ts";
import type { DocumentToWrite } from "../../shared/store/index/write-documents.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import type { Tally } from "./index-tally.ts";
import type { Portion } from "./prepare-portions.ts";
import { isRefusedData, retryConflicts } from "./sql-error.ts";

/** What a portion changed, and the paths that can't be indexed, those that the database refused included. */
export type StoredPortion = {
  readonly tally: Partial<Tally>;
  readonly failing: readonly string[];
  readonly silentlyChanged: readonly string[];
};

/**
 * Stores a portion in one transaction. Where the database refuses what is in it, its documents are written one by
 * one, so that the one it refuses is a failure and the others are not lost.
 */
export async function storePortion(db: Database, portion: Portion): Promise<StoredPortion> {
  const store = storeIn(db);
  const whole = await tryStore(store, portion);
  if (whole === "stored") return describe(portion);
  const refused: Refused[] = [];
  for (const document of portion.documents) {
    const outcome = await tryStore(store, {
      ...NOTHING_ELSE,
      ...head(portion),
      documents: [document],
    });
    if (outcome !== "stored") refused.push({ document, sqlState: outcome.sqlState });
  }
  const rest = withoutRefused(portion, refused);
  await retryConflicts(() => store({ ...rest, documents: [] }));
  return describe(rest);
}

type Refused = { readonly document: DocumentToWrite; readonly sqlState: string };

const NOTHING_ELSE = { touched: [], lost: [], failures: [] } as const;

type Stored = Omit<Portion, "files" | "replaced" | "verified" | "silentlyChanged">;

const head = ({ source, chunkSettings, language, vocabulary }: Portion) => ({
  source,
  chunkSettings,
  language,
  vocabulary,
});

type Store = (portion: Stored) => Promise<void>;

async function tryStore(
  store: Store,
  portion: Stored,
): Promise<"stored" | { readonly sqlState: string }> {
  try {
    await retryConflicts(() => store(portion));
    return "stored";
  } catch (error) {
    if (isRefusedData(error)) return { sqlState: error.code };
    throw error;
  }
}

const storeIn =
  (db: Database): Store =>
  (portion) =>
    db.transaction(async (transaction) => {
      const { documents, touched, failures, lost } = portion;
      if (documents.length > 0) await writeDocuments(transaction, portion);
      if (touched.length > 0) await touchDocuments(transaction, touched);
      if (lost.length > 0) await removeDocuments(transaction, lost);
      if (failures.length > 0) await recordFailures(transaction, portion.source, failures);
    });

/** What the database says may quote the document: only its code is kept. */
function withoutRefused(portion: Portion, refused: readonly Refused[]): Portion {
  const paths = new Set(refused.map(({ document }) => document.path));
  const failures = refused.map(({ document: { path }, sqlState }) => ({
    path,
    code: "FILE_READ_ERROR",
    message:
      `"${path}" can't be stored: the database refuses it with SQLSTATE ${sqlState}. Leave the file out, or ` +
      "report this.",
  }));
  return {
    ...portion,
    documents: portion.documents.filter(({ path }) => !paths.has(path)),
    lost: [...portion.lost, ...portion.replaced.filter(({ path }) => paths.has(path))],
    replaced: portion.replaced.filter(({ path }) => !paths.has(path)),
    failures: [...portion.failures, ...failures],
  };
}

function describe(portion: Portion): StoredPortion {
  const { documents, touched, failures, lost, replaced, verified, silentlyChanged } = portion;
  return {
    tally: {
      unchanged: touched.length + verified,
      added: documents.length - replaced.length,
      changed: replaced.length,
      removed: lost.length,
      failed: failures.length,
      chunks_written: documents.reduce((sum, { chunks }) => sum + chunks.length, 0),
      silently_changed: silentlyChanged.length,
    },
    failing: failures.map(({ path }) => path),
    silentlyChanged,
  };
}
