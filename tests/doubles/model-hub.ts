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
};

export const COMMIT = "c0ffee".padEnd(40, "0");

/** A hub with one model: its list of files with sizes and hashes, and the files at one commit. */
export async function startHubDouble(
  model: string,
  files: Readonly<Record<string, HubFile>>,
): Promise<HubDouble> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    answer(request, response, { model, files });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

type Shelf = { readonly model: string; readonly files: Readonly<Record<string, HubFile>> };

function answer({ url = "" }: IncomingMessage, response: ServerResponse, shelf: Shelf): void {
  const { model, files } = shelf;
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
  else response.end(file.sent ?? file.content);
}

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
