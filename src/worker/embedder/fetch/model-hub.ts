import { z } from "zod";
import { Failure } from "../../../shared/failure.ts";

/** A host that serves models as the Hugging Face hub does: the hub itself, or a mirror. */
export type ModelHub = {
  /** `https://host[:port][/path]`, without a slash at the end. */
  readonly url: string;
  readonly model: string;
  /** A branch, a tag or a commit. */
  readonly revision: string;
};

export type RemoteFile = {
  /** Relative to the model's folder. */
  readonly path: string;
  readonly bytes: number;
  /** Of large files the hub tells the SHA-256, of small ones git's own hash: SHA-1 over a header and the content. */
  readonly hash: { readonly kind: "sha256" | "git"; readonly hex: string };
};

export type RemoteModel = {
  /** The commit that the revision names now. */
  readonly commit: string;
  readonly files: readonly RemoteFile[];
};

const hex = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`));
const siblingSchema = z
  .object({
    rfilename: z.string(),
    size: z.int().min(0),
    blobId: hex(40),
    lfs: z.object({ sha256: hex(64) }).nullish(),
  })
  .transform(({ rfilename, size, blobId, lfs }): RemoteFile => ({
    path: rfilename,
    bytes: size,
    hash: lfs ? { kind: "sha256", hex: lfs.sha256 } : { kind: "git", hex: blobId },
  }));
const modelSchema = z
  .object({ sha: hex(40), siblings: z.array(siblingSchema) })
  .transform(({ sha, siblings }): RemoteModel => ({ commit: sha, files: siblings }));

const START_TIMEOUT_MS = 30_000;

/**
 * What a hub has of a model, with sizes and hashes.
 * @throws Failure NOT_FOUND, MODEL_UNREACHABLE, MODEL_OUTPUT_INVALID
 */
export async function readRemoteModel(hub: ModelHub): Promise<RemoteModel> {
  const path = `api/models/${hub.model}/revision/${encodeURIComponent(hub.revision)}?blobs=true`;
  const response = await request(hub, path, AbortSignal.timeout(START_TIMEOUT_MS));
  const parsed = modelSchema.safeParse(await response.json().catch(() => null));
  if (parsed.success) return parsed.data;
  throw new Failure(
    "MODEL_OUTPUT_INVALID",
    `${hub.url} gave no list of the files of "${hub.model}" with sizes and hashes. Is it a mirror of the Hugging Face ` +
      "hub? Give another with --host.",
  );
}

/** The content of a file at a commit. @throws Failure as readRemoteModel */
export const openRemoteFile = (
  hub: ModelHub,
  commit: string,
  path: string,
  signal: AbortSignal,
): Promise<Response> => request(hub, `${hub.model}/resolve/${commit}/${path}`, signal);

async function request(hub: ModelHub, path: string, signal: AbortSignal): Promise<Response> {
  const response = await fetch(`${hub.url}/${path}`, { signal }).catch((error: unknown) => {
    throw unreachable(hub, reasonOf(error), error);
  });
  if (response.ok && isAsSafe(hub.url, response.url)) return response;
  await response.body?.cancel();
  if (response.ok)
    throw unreachable(hub, `it leads to ${new URL(response.url).origin}, without TLS`);
  // The hub answers 401 also for a model that there is not.
  if ([401, 403, 404].includes(response.status)) throw notThere(hub, response.status);
  throw unreachable(hub, `HTTP ${response.status}`);
}

/** Files often lie on another host, and a redirection may not lead out of TLS. */
const isAsSafe = (asked: string, answered: string): boolean =>
  !asked.startsWith("https:") || answered.startsWith("https:");

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (typeof cause === "object" && cause !== null && "code" in cause) return String(cause.code);
  return cause instanceof Error ? cause.message : String(cause);
}

const unreachable = ({ url }: ModelHub, why: string, cause?: unknown): Failure =>
  new Failure(
    "MODEL_UNREACHABLE",
    `${url} does not give the model (${why}). Try later, or name a mirror with --host.`,
    cause === undefined ? {} : { cause },
  );

const notThere = ({ url, model, revision }: ModelHub, status: number): Failure =>
  new Failure(
    "NOT_FOUND",
    `${url} has no model "${model}" (${revision}) that can be read without a login (HTTP ${status}). Look for its ` +
      "name there; one behind a login has to be downloaded by hand.",
  );
