import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Value = { field: number; value: unknown };
export type StoredDocument = {
  id: number;
  title: string;
  correspondent: number | null;
  document_type: number | null;
  tags: number[];
  custom_fields: Value[];
  created: string;
  added: string;
  modified: string;
  original_file_name: string | null;
  mime_type: string;
};
type Named = { id: number; name: string; data_type?: string; parent?: number | null };
const KINDS = ["correspondents", "document_types", "tags", "custom_fields"] as const;
type Kind = (typeof KINDS)[number];

/** What becomes of a request in place of its answer: a status alone, the end of its connection (before or after its work), or JSON. */
export type Fault = { status: number } | { cut: "before" | "after" } | { json: unknown };

export type PaperlessServer = {
  readonly url: string;
  readonly documents: Map<number, StoredDocument>;
  readonly names: Record<Kind, Named[]>;
  /** `METHOD path`, and what was sent. */
  readonly requests: { line: string; body: unknown }[];
  /** Looked at before each request. */
  fault: ((line: string, body: unknown) => Fault | undefined) | undefined;
  /** API versions that it speaks. */
  versions: number[];
  /** Kinds of custom fields that it knows. */
  dataTypes: string[];
  /** Makes a correspondent, type, tag or custom field. @returns its number */
  name(kind: Kind, name: string, more?: Partial<Named>): number;
  add(document: Partial<StoredDocument>, content: string | Buffer): StoredDocument;
  /** As somebody changes a document on its page. */
  change(id: number, change: Partial<StoredDocument>): void;
  /** Requests that were to change something. */
  writes(): string[];
  close(): Promise<void>;
};

const DATA_TYPES = ["string", "longtext", "date", "boolean", "integer", "float", "monetary", "url"];
const MOST_STRING = 128;

/**
 * A double of paperless-ngx by its documented REST API, and by what its bulk edits do: they change neither `modified` nor what they
 * were not told to, and they look at no value. PATCH replaces lists whole, and refuses all of itself for one string that is too long.
 */
export async function startPaperless(token: string, perPage = 2): Promise<PaperlessServer> {
  const contents = new Map<number, Buffer>();
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  let clock = Date.parse("2026-01-01T00:00:00Z");
  const now = (): string => new Date((clock += 60_000)).toISOString();
  const double: PaperlessServer = {
    url: `http://127.0.0.1:${port}/`,
    documents: new Map(),
    names: { correspondents: [], document_types: [], tags: [], custom_fields: [] },
    requests: [],
    fault: undefined,
    versions: [9, 10],
    dataTypes: DATA_TYPES,
    name(kind, name, more = {}) {
      const id = nextId();
      double.names[kind].push({ id, name, ...more });
      return id;
    },
    add(given, content) {
      const document: StoredDocument = {
        ...{ id: double.documents.size + 1, title: "Scan", correspondent: null, tags: [] },
        ...{ document_type: null, custom_fields: [], created: "2026-01-05", added: now() },
        ...{ modified: now(), original_file_name: "scan.txt", mime_type: "text/plain" },
        ...given,
      };
      double.documents.set(document.id, document);
      contents.set(document.id, Buffer.from(content));
      return document;
    },
    change(id, change) {
      Object.assign(find(id), change, { modified: now() });
    },
    writes: () =>
      double.requests.map(({ line }) => line).filter((line) => /^(?:POST|PATCH)/.test(line)),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  const nextId = (): number =>
    Math.max(0, ...KINDS.flatMap((kind) => double.names[kind].map(({ id }) => id))) + 1;
  const find = (id: number): StoredDocument => {
    const document = double.documents.get(id);
    if (document === undefined) throw new Refused(404, { detail: "Not found." });
    return document;
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url: path = "" } = request;
    const body = await readJson(request);
    const line = `${method} ${path}`;
    const fault = double.fault?.(line, body);
    double.requests.push({ line, body });
    try {
      if (fault !== undefined && "cut" in fault && fault.cut === "before") throw new HangUp();
      if (fault !== undefined && "status" in fault)
        throw new Refused(fault.status, { detail: "told to" });
      if (request.headers.authorization !== `Token ${token}`)
        throw new Refused(401, { detail: "Invalid token." });
      const url = new URL(path, double.url);
      if (url.pathname.endsWith("/download/")) {
        download(url, response);
        return;
      }
      const version = Number(/version=(\d+)/.exec(request.headers.accept ?? "")?.[1]);
      if (!double.versions.includes(version))
        throw new Refused(406, { detail: "Invalid version." });
      const json = answer(method, url, body as Record<string, never>);
      if (fault !== undefined && "cut" in fault) throw new HangUp();
      send(
        response,
        method === "POST" && !path.includes("bulk") ? 201 : 200,
        fault !== undefined && "json" in fault ? fault.json : json,
      );
    } catch (error) {
      if (error instanceof HangUp) response.destroy();
      else if (!(error instanceof Refused)) throw error;
      else send(response, error.status, error.body);
    }
  }

  function download(url: URL, response: ServerResponse): void {
    const id = Number(/(\d+)\/download/.exec(url.pathname)?.[1]);
    find(id);
    if (url.searchParams.get("original") !== "true") throw new Refused(404, {});
    response.writeHead(200, { "content-type": "application/octet-stream" }).end(contents.get(id));
  }

  function answer(method: string, url: URL, body: Record<string, never>): unknown {
    const [, , kind = "", id = ""] = url.pathname.split("/");
    if (kind === "documents" && id === "bulk_edit") return bulkEdit(body);
    if (kind === "documents" && id !== "") {
      if (method === "PATCH") patch(find(Number(id)), body);
      return find(Number(id));
    }
    if (kind === "documents") return page(url, [...double.documents.values()]);
    if (!isKind(kind)) throw new Refused(404, {});
    return method === "POST" ? create(kind, body) : page(url, double.names[kind]);
  }

  function page(url: URL, all: readonly { id: number }[]): unknown {
    const at = Number(url.searchParams.get("page") ?? 1);
    const sorted = all.toSorted((one, other) => one.id - other.id);
    const next = new URL(url);
    next.searchParams.set("page", String(at + 1));
    return {
      count: all.length,
      next: at * perPage < all.length ? next.href : null,
      previous: null,
      results: sorted.slice((at - 1) * perPage, at * perPage),
    };
  }

  function create(kind: Kind, { name, data_type }: { name?: string; data_type?: string }): Named {
    const names = double.names[kind];
    if (name === undefined || names.some((one) => one.name === name))
      throw new Refused(400, { error: "Object violates name unique constraint" });
    if (kind === "custom_fields" && !double.dataTypes.includes(data_type ?? ""))
      throw new Refused(400, { data_type: ["not a valid choice"] });
    const created = { id: nextId(), name, ...(data_type === undefined ? {} : { data_type }) };
    names.push(created);
    return created;
  }

  const isTooLong = ({ field, value }: Value): boolean =>
    typeof value === "string" &&
    value.length > MOST_STRING &&
    double.names.custom_fields.find(({ id }) => id === field)?.data_type === "string";

  function patch(document: StoredDocument, body: Partial<StoredDocument>): void {
    if ((body.title?.length ?? 0) > MOST_STRING || body.custom_fields?.some(isTooLong) === true)
      throw new Refused(400, { detail: "Ensure this field has no more than 128 characters." });
    Object.assign(document, body, { modified: now() });
  }

  function bulkEdit(body: {
    documents?: number[];
    method?: string;
    parameters?: Record<string, never>;
  }): unknown {
    const { documents = [], method, parameters = {} } = body;
    for (const document of documents.map(find)) {
      if (method === "modify_tags") modifyTags(document, parameters);
      else if (method === "modify_custom_fields") modifyFields(document, parameters);
      else throw new Refused(400, { method: [`"${method ?? ""}" is not a valid choice.`] });
    }
    return { result: "OK" };
  }

  function modifyTags(
    document: StoredDocument,
    { add_tags = [], remove_tags = [] }: { add_tags?: number[]; remove_tags?: number[] },
  ): void {
    const withParents = (id: number): number[] => {
      const parent = double.names.tags.find((tag) => tag.id === id)?.parent;
      return parent == null ? [id] : [id, ...withParents(parent)];
    };
    const removes = (id: number): boolean =>
      withParents(id).some((one) => remove_tags.includes(one));
    document.tags = [
      ...new Set([...document.tags.filter((id) => !removes(id)), ...add_tags.flatMap(withParents)]),
    ];
  }

  function modifyFields(
    document: StoredDocument,
    parameters: {
      add_custom_fields?: Record<string, unknown>;
      remove_custom_fields?: number[];
    },
  ): void {
    const { add_custom_fields = {}, remove_custom_fields = [] } = parameters;
    const added = Object.entries(add_custom_fields).map(([field, value]) => ({
      field: Number(field),
      value,
    }));
    // The database refuses it, and nobody before.
    if (added.some(isTooLong)) throw new Refused(500, {});
    const gone = new Set([...remove_custom_fields, ...added.map(({ field }) => field)]);
    document.custom_fields = [
      ...document.custom_fields.filter(({ field }) => !gone.has(field)),
      ...added,
    ];
  }

  return double;
}

class HangUp extends Error {}

class Refused extends Error {
  readonly status: number;
  readonly body: unknown;
  constructor(status: number, body: unknown) {
    super(String(status));
    this.status = status;
    this.body = body;
  }
}

const isKind = (text: string): text is Kind => (KINDS as readonly string[]).includes(text);

function send(response: ServerResponse, status: number, json: unknown): void {
  response.writeHead(status, { "content-type": "application/json", "x-api-version": "10" });
  response.end(JSON.stringify(json));
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  request.setEncoding("utf8");
  let text = "";
  for await (const part of request as AsyncIterable<string>) text += part;
  return text === "" ? undefined : JSON.parse(text);
}
