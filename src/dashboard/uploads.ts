import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { z } from "zod";
import type { Config } from "../shared/config/schema.ts";
import { Failure } from "../shared/failure.ts";
import { markup } from "../shared/views/html-markup.ts";
import type { Html } from "../shared/views/html-markup.ts";
import { findAction } from "../shared/views/operator-actions.ts";
import { formatCount } from "../shared/views/quantity.ts";
import { runAction } from "./run-action.ts";
import type { Site } from "./site.ts";
import { Refused } from "./failures.ts";
import { csrfField } from "./layout.ts";
import { pathTo } from "./links.ts";
import { resultOf } from "./pages/start.ts";
import type { Session } from "./sessions.ts";

export const UPLOAD_PATH = "/uploads/:watch/:name";
/** The header with the CSRF token, because an upload is no form. */
export const CSRF_HEADER = "x-nightdesk-csrf";

export type Upload = {
  readonly watch: string;
  readonly name: string;
  /** The header Content-Length. */
  readonly length: string | undefined;
  readonly body: ReadableStream<Uint8Array> | null;
};

const storedSchema = z.object({ path: z.string(), bytes: z.number() });

const UPLOAD_MS = 60_000;

/** Pipes a file to the command that stores it. This process writes no file. */
export async function storeUpload(
  { config, database, runUpload }: Site,
  { user }: Session,
  { watch, name, length, body }: Upload,
): Promise<z.infer<typeof storedSchema>> {
  const bytes = bytesOf(length, config.security.max_file_bytes);
  // No argument of a command may contain NUL.
  if (`${watch}${name}`.includes("\0")) throw new Failure("INPUT_INVALID", "No name holds a NUL.");
  let stored: z.infer<typeof storedSchema> | undefined;
  const did = await runAction(
    database,
    { actor: user, action: "send-file", detail: { watch, name, bytes } },
    async () => {
      const words = ["put", "--json", `--watch=${watch}`, `--bytes=${bytes}`, "--", name];
      const input = body === null ? "" : Readable.fromWeb(body);
      stored = resultOf(await runUpload(words, { timeMs: UPLOAD_MS, input }), storedSchema);
      return `Stored as ${stored.path}.`;
    },
  );
  if (stored !== undefined) return stored;
  const action = await findAction(database, did);
  throw new Failure("INPUT_INVALID", action?.said ?? "Nothing was stored.");
}

function bytesOf(length: string | undefined, most: number): number {
  if (!/^\d{1,15}$/.test(length ?? "")) {
    const message = "A file is sent with its length, by Content-Length.";
    throw new Refused({ status: 400, code: "INPUT_INVALID", message });
  }
  const bytes = Number(length);
  if (bytes <= most) return bytes;
  const message = `A file has ${formatCount(most)} bytes at most (security.max_file_bytes).`;
  throw new Refused({ status: 413, code: "TOO_LARGE", message });
}

/** An upload form for each watched folder. The script that sends files shows it. */
export function uploadHtml({ dashboard, index }: Config, session: Session): Html {
  const watched = dashboard.uploads ? index.sources.filter(({ watch }) => watch !== undefined) : [];
  if (watched.length === 0) return markup``;
  return markup`<section aria-labelledby="upload"><h2 id="upload">Add files</h2>
<noscript><p class="note">Files are sent by a script. Without it: nightdesk put --watch NAME.</p></noscript>
${watched.map(
  ({ name, root }) =>
    markup`<form class="upload" data-upload="${pathTo("uploads", name)}" hidden>${csrfField(session)}<label>Drop files for ${name} (${root}) here, or choose them<input type="file" multiple></label><ul aria-live="polite"></ul></form>`,
)}</section>`;
}
