import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type HubDouble = {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** Addresses that were asked for, in order. */
  readonly asked: string[];
  /** What was asked for from a byte on, in order: the name, the byte, and the tag that the content was to have. */
  readonly rests: {
    readonly name: string;
    readonly from: number;
    readonly ifRange: string | undefined;
  }[];
  close(): Promise<void>;
};

export type HubFile = {
  readonly content: Buffer;
  /** Kept apart from the repository, as large files are: listed with a SHA-256, and given by a redirection. */
  readonly large?: true;
  /** What is sent instead of the content. */
  readonly sent?: Buffer;
  /** Where whoever asks for it is sent on to. */
  readonly location?: string;
  /** What the list says of its size, where that is a lie. */
  readonly listedBytes?: number;
  /** After so many bytes of the content nothing more comes. */
  readonly stallsAt?: number;
  /** How it takes a request for a rest; as HTTP has it unless told. */
  readonly ranges?: "ignored" | "whatever its tag" | "of another place" | "not satisfiable";
  /** `closing`: nothing but the end of the connection tells the end of the content. */
  readonly length?: "closing";
};

export const COMMIT = "c0ffee".padEnd(40, "0");

/** A hub with one model: its list of files with sizes and hashes, and the files at one commit. */
export async function startHubDouble(
  model: string,
  files: Readonly<Record<string, HubFile>>,
): Promise<HubDouble> {
  const asked: string[] = [];
  const rests: HubDouble["rests"] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    answer(request, response, { model, files, rests });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    rests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

type Shelf = Pick<HubDouble, "rests"> & {
  readonly model: string;
  readonly files: Readonly<Record<string, HubFile>>;
};

function answer(request: IncomingMessage, response: ServerResponse, shelf: Shelf): void {
  const { url = "" } = request;
  const { model, files, rests } = shelf;
  if (url === `/api/models/${model}/revision/main?blobs=true`) {
    const siblings = Object.entries(files).map(([name, file]) => sibling(name, file));
    response.end(JSON.stringify({ id: model, sha: COMMIT, siblings }));
    return;
  }
  const name = url.replace(`/${model}/resolve/${COMMIT}/`, "").replace("/elsewhere/", "");
  const file = files[decodeURIComponent(name)];
  if (file === undefined) response.writeHead(404).end("Not Found");
  else if (file.location !== undefined) response.writeHead(302, { location: file.location }).end();
  else if (file.large && !url.startsWith("/elsewhere/"))
    response.writeHead(302, { location: `/elsewhere/${name}` }).end();
  else {
    const wanted = rangeOf(request);
    if (wanted !== null) rests.push({ name, ...wanted });
    give(file, wanted, response);
  }
}

type Rest = Omit<HubDouble["rests"][number], "name">;

function rangeOf({ headers }: IncomingMessage): Rest | null {
  const range = /^bytes=(\d+)-$/.exec(headers.range ?? "");
  if (range === null) return null;
  return { from: Number(range[1]), ifRange: headers["if-range"] as string | undefined };
}

/** The content of a file, or the rest of it. */
function give(file: HubFile, wanted: Rest | null, response: ServerResponse): void {
  const content = file.sent ?? file.content;
  const etag = tagOf(content);
  const isSame = wanted?.ifRange === undefined || wanted.ifRange === etag;
  const isGiven = file.ranges !== "ignored" && (isSame || file.ranges === "whatever its tag");
  const asked = wanted !== null && isGiven ? wanted.from : 0;
  if (asked > 0 && file.ranges === "not satisfiable") {
    response.writeHead(416, { "content-range": `bytes */${content.length}` }).end();
    return;
  }
  const from = file.ranges === "of another place" ? Math.floor(asked / 2) : asked;
  const range = { "content-range": `bytes ${from}-${content.length - 1}/${content.length}` };
  const length = { "content-length": content.length - from };
  if (file.length === "closing") response.removeHeader("transfer-encoding");
  response.writeHead(asked > 0 ? 206 : 200, {
    ...{ etag, ...(asked > 0 ? range : {}), ...(file.length === "closing" ? {} : length) },
  });
  if (file.stallsAt === undefined) response.end(content.subarray(from));
  else response.write(content.subarray(from, file.stallsAt));
}

/** The tag by which it names a content. */
export const tagOf = (content: Buffer): string =>
  `"${createHash("sha256").update(content).digest("hex").slice(0, 20)}"`;

function sibling(rfilename: string, { content, large, listedBytes }: HubFile): object {
  const blobId = createHash("sha1").update(`blob ${content.length}\0`).update(content);
  const sha256 = createHash("sha256").update(content).digest("hex");
  return {
    rfilename,
    size: listedBytes ?? content.length,
    blobId: blobId.digest("hex"),
    ...(large === undefined ? {} : { lfs: { sha256, size: content.length } }),
  };
}
