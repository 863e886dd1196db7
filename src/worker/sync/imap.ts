import { ImapFlow } from "imapflow";
import { Failure } from "../../shared/failure.ts";
import type { ListedFile } from "../../shared/store/index/remote-files.ts";
import { AddressDenied, resolveAllowed } from "../outbound-request.ts";
import { codeOf, denied, deniedAddress, unavailable, withTries } from "./http-place.ts";
import type { HttpPlace } from "./http-place.ts";
import { decodeName } from "./local-name.ts";
import { invalid } from "./read-listing.ts";
import { GONE, listedFile } from "./remote.ts";
import type { Beginning, NoContent, Remote, RemoteContent } from "./remote.ts";

type Mailbox = HttpPlace & {
  /** `imaps://host[:port]`, or `imap://host[:port]`, which requires STARTTLS before the login. */
  readonly url: URL;
  readonly login: { readonly user: string; readonly secret: string };
  readonly folders: readonly string[];
};

const LISTED_AT_ONCE = 1_000;
const PART_BYTES = 4_000_000;
/** One response of the server: a part with its envelope. */
const MOST_RESPONSE_BYTES = 16_000_000;

/** Offers mails as files. It opens folders read-only, so that no mail is marked as seen. */
export function openMailbox(place: Mailbox): Remote {
  let client: ImapFlow | undefined;
  const connected = async (signal: AbortSignal): Promise<ImapFlow> => {
    if (client?.usable !== true) {
      client?.close();
      client = await connect(place, signal);
    }
    return client;
  };
  const withFailures = async <T>(signal: AbortSignal, body: () => Promise<T>): Promise<T> => {
    const stop = (): void => client?.close();
    signal.addEventListener("abort", stop, { once: true });
    try {
      return await body();
    } catch (error) {
      signal.throwIfAborted();
      throw failureOf(place, error);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  };
  return {
    async *list(signal) {
      for (const folder of place.folders) {
        const opened = await withTries(signal, () =>
          withFailures(signal, async () => selectFolder(place, await connected(signal), folder)),
        );
        const parts = listMails(opened, folder);
        for (;;) {
          const next = await withFailures(signal, () => parts.next());
          if (next.done === true) break;
          yield next.value;
        }
      }
    },
    open: (file, beginning, signal) =>
      withFailures(signal, async () => {
        const mail = mailOf(file.id);
        const opened = await selectFolder(place, await connected(signal), mail.folder);
        if (opened.validity !== mail.validity) return { kind: "none", reason: GONE };
        return contentOf(place, opened.client, { mail, beginning, signal, withFailures });
      }),
    async close() {
      client?.close();
    },
  };
}

async function connect(place: Mailbox, signal: AbortSignal): Promise<ImapFlow> {
  const { url, login, timeoutMs, isAllowed, ca } = place;
  const isSecure = url.protocol === "imaps:";
  const address = await resolveAllowed(url.hostname, isAllowed);
  signal.throwIfAborted();
  const client = new ImapFlow({
    host: address,
    port: url.port === "" ? (isSecure ? 993 : 143) : Number(url.port),
    ...(address === url.hostname ? {} : { servername: url.hostname }),
    // If STARTTLS fails, the client closes the connection before it sends the secret.
    ...(isSecure ? { secure: true } : { secure: false, doSTARTTLS: true }),
    ...(ca === undefined ? {} : { tls: { ca: [...ca] } }),
    auth: { user: login.user, pass: login.secret },
    logger: false,
    disableAutoIdle: true,
    maxLockHoldTime: false,
    ...{ connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs },
    ...{ maxLineLength: 1_000_000, maxResponseSize: MOST_RESPONSE_BYTES },
  });
  // Pending calls are rejected with the error; without a listener it would end the process.
  client.on("error", () => undefined);
  const stop = (): void => {
    client.close();
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    await client.connect();
  } finally {
    signal.removeEventListener("abort", stop);
  }
  return client;
}

type OpenedFolder = {
  readonly client: ImapFlow;
  readonly validity: string;
  readonly mails: number;
};

async function selectFolder(
  { source }: Mailbox,
  client: ImapFlow,
  folder: string,
): Promise<OpenedFolder> {
  try {
    const { uidValidity, exists } = await client.mailboxOpen(folder, { readOnly: true });
    return { client, validity: String(uidValidity), mails: exists };
  } catch (error) {
    const { mailboxMissing: isMissing } = error as { readonly mailboxMissing?: boolean };
    if (!client.usable || isMissing !== true) throw error;
    throw invalid(source, `has no folder ${JSON.stringify(folder)}; look at remote.folders`);
  }
}

async function* listMails(
  { client, validity, mails }: OpenedFolder,
  folder: string,
): AsyncGenerator<ListedFile[]> {
  let files: ListedFile[] = [];
  let listed = 0;
  if (mails === 0) return;
  for await (const { uid, size } of client.fetch("1:*", { uid: true, size: true })) {
    const id = `${encodeURIComponent(folder)}/${validity}-${uid}.eml`;
    // The bytes of a mail never change while its folder has this validity.
    files.push(listedFile(id, { version: versionOf(validity, String(uid)), bytes: size ?? null }));
    listed += 1;
    if (files.length === LISTED_AT_ONCE) {
      yield files;
      files = [];
    }
  }
  if (listed < mails) throw new Error("fewer mails were listed than the folder holds");
  yield files;
}

const versionOf = (validity: string, uid: string): string => `UIDVALIDITY=${validity};UID=${uid}`;

type Mail = { readonly folder: string; readonly validity: string; readonly uid: string };

function mailOf(id: string): Mail {
  const [, folder = "", validity = "", uid = ""] = /^(.+)\/(\d+)-(\d+)\.eml$/.exec(id) ?? [];
  return { folder: decodeName(folder), validity, uid };
}

type Reading = {
  readonly mail: Mail;
  readonly beginning: Beginning | null;
  readonly signal: AbortSignal;
  readonly withFailures: <T>(signal: AbortSignal, body: () => Promise<T>) => Promise<T>;
};

/** Reads the first part at once, to detect a deleted mail. */
async function contentOf(
  { url }: Mailbox,
  client: ImapFlow,
  { mail, beginning, signal, withFailures }: Reading,
): Promise<RemoteContent | NoContent> {
  const { folder, validity, uid } = mail;
  const from = beginning?.bytes ?? 0;
  const readPart = async (start: number): Promise<Buffer | undefined> => {
    const found = await client.fetchOne(
      uid,
      { source: { start, maxLength: PART_BYTES } },
      { uid: true },
    );
    return found === false ? undefined : found.source;
  };
  const first = await readPart(from);
  if (first === undefined) return { kind: "none", reason: GONE };
  const chunks = async function* (): AsyncGenerator<Buffer> {
    let at = from;
    for (let part: Buffer | undefined = first; part !== undefined;) {
      yield part;
      at += part.length;
      if (part.length < PART_BYTES) return;
      part = await withFailures(signal, () => readPart(at));
    }
    throw invalidPart(mail);
  };
  return {
    ...{ kind: "content", from, bytes: null, etag: `"${versionOf(validity, uid)}"` },
    origin: `imap://${url.host}/${encodeURIComponent(folder)};UIDVALIDITY=${validity}/;UID=${uid}`,
    chunks: chunks(),
  };
}

const invalidPart = ({ uid }: Mail): Error => new Error(`mail ${uid} was gone while it was read`);

function failureOf(place: Mailbox, error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof AddressDenied) return deniedAddress(place, error);
  const facts = error as { readonly authenticationFailed?: boolean; readonly tlsFailed?: boolean };
  if (facts.authenticationFailed === true)
    return denied(
      place,
      `${place.url.host} refuses the user or the secret. It is not asked again before you correct them`,
    );
  if (facts.tlsFailed === true)
    return denied(place, `${place.url.host} gives no TLS that can be trusted (${codeOf(error)})`);
  return unavailable(place, place, codeOf(error), error);
}
