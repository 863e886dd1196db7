import { posix } from "node:path";
import type { ListedFile } from "../../shared/store/index/remote-files.ts";
import { ENDINGS } from "../documents/formats/mail-attachments.ts";
import { describeDocument, listDocuments, readNames } from "../paperless/documents.ts";
import type { PaperlessDocument } from "../paperless/documents.ts";
import { openPaperlessApi } from "../paperless/paperless-api.ts";
import type { PaperlessPlace } from "../paperless/paperless-api.ts";
import { openContent } from "./open-content.ts";
import { listedFile } from "./remote.ts";
import type { Remote } from "./remote.ts";

/** The originals of paperless-ngx, each under the number of its document, with what it says of them. */
export function openPaperless(place: PaperlessPlace): Remote {
  const api = openPaperlessApi(place);
  return {
    async *list(signal) {
      const names = await readNames(place, api, signal);
      for await (const documents of listDocuments(place, api, signal))
        yield documents.map((document): ListedFile => {
          const description = JSON.stringify(describeDocument(document, names));
          const version = versionOf(document);
          return { ...listedFile(nameOf(document), { version, bytes: null }), description };
        });
    },
    open({ id, version }, beginning, signal) {
      const number = numberOf(id);
      const request = api.requestOf(`api/documents/${number}/download/?original=true`);
      const page = new URL(`documents/${number}`, api.requestOf("").url);
      const origin = `${page.href}#${encodeURIComponent(version)}`;
      return openContent(place, { request, origin }, beginning, signal);
    },
    close: async () => undefined,
  };
}

/** Of a document, by the name of its original here. */
export const numberOf = (id: string): number => Number.parseInt(id, 10);

const versionOf = ({ modified, checksum }: PaperlessDocument): string =>
  [modified, ...(checksum == null ? [] : [checksum])].join(" ").slice(0, 500);

const PICTURES: Readonly<Record<string, string>> = {
  "image/jpeg": ".jpg",
  "image/png": ".png",
  "image/tiff": ".tiff",
};

/** The ending of the original is the only thing of its name that is used. */
function nameOf({ id, original_file_name: original, mime_type: type }: PaperlessDocument): string {
  const ending = posix.extname(original ?? "").toLowerCase();
  const byType = PICTURES[type ?? ""] ?? ENDINGS[type ?? ""] ?? "";
  return `${id}${/^\.[a-z0-9]{1,10}$/.test(ending) ? ending : byType}`;
}
