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

/** The originals of paperless-ngx, each named by the number of its document, with its metadata. */
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

/** The number of a document, from the name of its original in the mirror. */
export const numberOf = (id: string): number => Number.parseInt(id, 10);

const versionOf = ({ modified, checksum }: PaperlessDocument): string =>
  [modified, ...(checksum == null ? [] : [checksum])].join(" ").slice(0, 500);

const PICTURES: Readonly<Record<string, string>> = {
  "image/jpeg": ".jpg",
  "image/png": ".png",
  "image/tiff": ".tiff",
};

/** Uses only the extension of the original name. */
function nameOf({ id, original_file_name: original, mime_type: type }: PaperlessDocument): string {
  const ending = posix.extname(original ?? "").toLowerCase();
  const byType = PICTURES[type ?? ""] ?? ENDINGS[type ?? ""] ?? "";
  return `${id}${/^\.[a-z0-9]{1,10}$/.test(ending) ? ending : byType}`;
}
