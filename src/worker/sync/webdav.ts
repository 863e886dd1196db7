import type { IncomingMessage } from "node:http";
import type { ListedFile } from "../../shared/store/index/remote-files.ts";
import { parseUrl } from "../../shared/http/parse-url.ts";
import { bytesOf, requestPlace, withTries } from "./http-place.ts";
import type { HttpPlace, PlaceRequest } from "./http-place.ts";
import { openContent } from "./open-content.ts";
import { checkListed, entryReader, invalid, readListing, sizeOf, textOf } from "./read-listing.ts";
import type { Entry } from "./read-listing.ts";
import { listedFile } from "./remote.ts";
import type { Remote } from "./remote.ts";

type WebDav = HttpPlace & {
  /** The mirrored folder. */
  readonly url: URL;
  readonly login: { readonly user: string; readonly secret: string } | null;
};

const DEEPEST = 60;

const PROPFIND =
  '<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/><getetag/><getlastmodified/></prop></propfind>';

/** A folder of a WebDAV server (RFC 4918): Nextcloud, Apache, nginx and others. */
export function openWebDav(place: WebDav): Remote {
  const root = new URL(place.url);
  if (!root.pathname.endsWith("/")) root.pathname += "/";
  const headers: Record<string, string> = { "accept-encoding": "identity" };
  if (place.login !== null) {
    const { user, secret } = place.login;
    headers["authorization"] = `Basic ${Buffer.from(`${user}:${secret}`).toString("base64")}`;
  }
  return {
    list: (signal) => listFolders(place, { root, headers }, signal),
    open(file, beginning, signal) {
      const url = new URL(`./${file.id}`, root);
      const origin = `${url.href}#${encodeURIComponent(file.version)}`;
      const request = { url, method: "GET", headers };
      return openContent(place, { request, origin }, beginning, signal);
    },
    close: async () => undefined,
  };
}

type Folder = { readonly root: URL; readonly headers: Readonly<Record<string, string>> };

/** Lists folder by folder, because many servers refuse to list all at once. */
async function* listFolders(
  place: WebDav,
  { root, headers }: Folder,
  signal: AbortSignal,
): AsyncGenerator<readonly ListedFile[]> {
  const folders = [""];
  let listed = 0;
  for (let prefix = folders.pop(); prefix !== undefined; prefix = folders.pop()) {
    const url = new URL(`./${prefix}`, root);
    const request = {
      url,
      method: "PROPFIND",
      headers: { ...headers, depth: "1", "content-type": "application/xml; charset=utf-8" },
      body: PROPFIND,
    };
    // The folder may have been removed since its parent was listed.
    const expected = prefix === "" ? [207] : [207, 404];
    const response = await withTries(signal, () => requestPlace(place, request, expected, signal));
    if (response.statusCode === 404) {
      response.destroy();
      continue;
    }
    for await (const found of readResponses(place, request, response, signal)) {
      const files: ListedFile[] = [];
      for (const one of found) {
        const name = nameBelow(place, one, url);
        if (name === undefined) continue;
        if (one.texts.has("collection")) folders.push(`${prefix}${name}/`);
        else files.push(fileOf(`${prefix}${name}`, one, response));
      }
      checkFolders(place, folders, (listed += found.length));
      yield files;
    }
  }
}

function checkFolders({ source }: WebDav, folders: readonly string[], listed: number): void {
  checkListed(source, listed);
  const deepest = folders.at(-1)?.split("/").length ?? 0;
  if (deepest > DEEPEST) throw invalid(source, `has folders more than ${DEEPEST} deep`);
}

const readResponses = (
  place: WebDav,
  request: PlaceRequest,
  response: IncomingMessage,
  signal: AbortSignal,
): AsyncGenerator<readonly Entry[]> =>
  readListing(
    place.source,
    bytesOf(place, request, response, signal),
    entryReader(RESPONSES, PARTS),
  );

const RESPONSES = new Set(["response"]);
/** A property that the server lacks comes as an empty element, with another status. */
const PARTS = new Set(["href", "collection", "getetag", "getcontentlength", "getlastmodified"]);

/**
 * The percent-encoded name of a direct child of the listed folder; undefined for the folder itself.
 * @throws Failure SOURCE_INVALID for a URL outside of the folder
 */
function nameBelow({ source }: WebDav, one: Entry, folder: URL): string | undefined {
  const href = textOf(one, "href");
  const url = parseUrl(href, folder.href);
  const [above, path] = [namesOf(folder.pathname), namesOf(url?.pathname ?? "")];
  const isBelow = url?.origin === folder.origin && above.every((name, at) => name === path[at]);
  if (isBelow && path.length <= above.length + 1) return path[above.length];
  const shown = JSON.stringify(href.slice(0, 200));
  throw invalid(source, `of ${folder.pathname} names ${shown}, which does not lie in it`);
}

/** Names in one encoding, because servers differ in the characters that they encode. A name that is not UTF-8 stays as it is. */
const namesOf = (pathname: string): string[] =>
  pathname
    .split("/")
    .filter((name) => name !== "")
    .map(respellName);

function respellName(name: string): string {
  try {
    return encodeURIComponent(decodeURIComponent(name));
  } catch {
    return name;
  }
}

/** Without a strong ETag, a second change in the same second is invisible; so a file this young is fetched again next time. */
const YOUNG_MS = 3_000;

function fileOf(id: string, one: Entry, { headers }: IncomingMessage): ListedFile {
  const [etag, length] = [textOf(one, "getetag"), textOf(one, "getcontentlength")];
  const modified = textOf(one, "getlastmodified");
  const isStrong = etag.startsWith('"');
  const tag = etag.replace(/^W\//, "").slice(0, 500);
  const base = tag === "" ? `${length.slice(0, 20)} bytes, ${modified.slice(0, 60)}` : tag;
  const now = Date.parse(headers.date ?? "") || Date.now();
  const isYoung = !isStrong && now - Date.parse(modified) < YOUNG_MS;
  const version = isYoung ? `${base} at ${now}` : base;
  return listedFile(id, { version, bytes: sizeOf(length) });
}
