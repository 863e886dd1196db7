import { resolve } from "node:path";
import {
  addressOfHost,
  networkKindOf,
  networksOf,
  allowedAddresses,
} from "../http/network-address.ts";
import { hasWeights } from "./providers.ts";
import { judgeName } from "../job/route-models.ts";
import { checkSchedule, configuredSchedules } from "../schedules/schedule.ts";
import { presetProblem, selectPreset } from "./tool-presets.ts";
import { parseBaseUrl } from "./base-url.ts";
import { checkMcpServers } from "./check-mcp-servers.ts";
import { dottedKey, placeOf } from "./config-tree.ts";
import type { Mapping } from "./config-tree.ts";
import { maskWebhook } from "./mask-url.ts";
import { checkHosts } from "./check-hosts.ts";
import { checkWatches, isBelow } from "./check-watches.ts";
import { configFailure, quote } from "./problem.ts";
import type { Conflict } from "./problem.ts";
import type { ConfigValues } from "./schema.ts";
import { formatFound } from "./validate-values.ts";
import { parseUrl } from "../http/parse-url.ts";

/**
 * Checks rules across several keys. It reads no file.
 * @param workroot absolute
 * @throws Failure CONFIG_ERROR with all conflicts
 */
export function checkAcrossKeys(values: ConfigValues, tree: Mapping, workroot: string): void {
  const conflicts = [
    ...checkDatabase(values, tree),
    ...checkQueue(values, tree),
    ...checkModel(values, tree),
    ...checkHosts(values),
    ...checkChunking(values),
    ...checkVectors(values),
    ...checkSourceNames(values),
    ...checkSourceRoots(values, workroot),
    ...checkSourceExtensions(values),
    ...checkWatches(values, workroot),
    ...checkRemotes(values, workroot),
    ...checkSchedules(values),
    ...checkWebhook(values),
    ...checkMcpServers(values.tools.mcp.servers),
    ...checkJudge(values),
    ...checkPresets(values),
    ...checkWebSearch(values),
    ...checkSubmitPreset(values),
  ];
  if (conflicts.length === 0) return;
  throw configFailure(
    conflicts.map(({ path, text }) => ({
      place: placeOf(tree, path),
      text: `${dottedKey(path)} ${text}`,
    })),
  );
}

function checkJudge({ verify: { judge, entailment }, model }: ConfigValues): Conflict[] {
  if (typeof judge.model !== "string") return checkTwoJudges(judge.model, judge.form, model);
  if (judge.model === "off" || judge.form !== "nli" || entailment.provider !== "off") return [];
  const text =
    'is "nli", and verify.entailment.provider is "off"; expected transformers there, with the cross-encoder that judges';
  return [{ path: ["verify", "judge", "form"], text }];
}

function checkTwoJudges(
  models: readonly [string, string],
  form: string,
  settings: ConfigValues["model"],
): Conflict[] {
  const [first, second] = models.map((name) => judgeName(name, settings));
  const isFit = form !== "nli" && first !== second && !models.includes("off");
  const text = `is ${JSON.stringify(models)} in the form ${form}; expected two different models in the form list or yes_no`;
  return isFit ? [] : [{ path: ["verify", "judge", "model"], text }];
}

function checkPresets({ tools }: ConfigValues): Conflict[] {
  return Object.entries(tools.presets).flatMap(([name, members]) => {
    const text = presetProblem(name, members, tools.mcp.servers);
    return text === undefined ? [] : [{ path: ["tools", "presets", name], text }];
  });
}

function checkSubmitPreset({ mcp, tools }: ConfigValues): Conflict[] {
  if (mcp.submit_preset === null) return [];
  const preset = selectPreset(tools.presets, mcp.submit_preset);
  return typeof preset === "string"
    ? [{ path: ["mcp", "submit_preset"], text: `names no preset. ${preset}` }]
    : [];
}

/** Checks the provider only if the web is enabled: it may be configured in advance. */
function checkWebSearch({ tools: { web } }: ConfigValues): Conflict[] {
  const { provider, base_url: baseUrl, key_env: keyEnv, key_file: keyFile } = web.search;
  if (!web.enabled || provider === null) return [];
  const at = (key: string) => ["tools", "web", "search", key];
  const parsed = baseUrl === null ? null : parseBaseUrl(baseUrl);
  if (parsed?.kind === "invalid") {
    const text = `is not valid: ${parsed.reason}; expected http://host:port or https://host`;
    return [{ path: at("base_url"), text }];
  }
  if (provider === "searxng" && baseUrl === null) {
    const text =
      'is empty and tools.web.search.provider is "searxng"; expected the URL of yours, like http://127.0.0.1:8888';
    return [{ path: at("base_url"), text }];
  }
  if (keyEnv !== null && keyFile !== null) {
    return [{ path: at("key_file"), text: "is set, and so is tools.web.search.key_env; keep one" }];
  }
  if (provider === "searxng" || keyEnv !== null || keyFile !== null) return [];
  const text = `is empty and tools.web.search.provider is "${provider}", which needs a key; set it, or tools.web.search.key_env`;
  return [{ path: at("key_file"), text }];
}

/** The driver treats these modes as ones that require a certificate; it never falls back to an unencrypted connection. */
const SSL_IF_ANY = /[?&]sslmode=(?:prefer|allow)(?:&|$)/;

function checkServerUrl(
  url: string | null,
  path: readonly string[],
  tree: Mapping,
): readonly Conflict[] {
  if (url === null) return [];
  if (!hasScheme(url, ["postgres:", "postgresql:"])) {
    const expected = `"embedded" or postgres://user:password@host:port/name`;
    return [{ path, text: `${formatFound(tree, path)}; expected ${expected}` }];
  }
  return SSL_IF_ANY.test(url)
    ? [{ path, text: "has sslmode=prefer or allow; expected disable, require or verify-full" }]
    : [];
}

function checkDatabase({ database, queue }: ConfigValues, tree: Mapping): Conflict[] {
  const path = ["database", "url"];
  const direct = checkServerUrl(database.direct_url, ["database", "direct_url"], tree);
  if (database.url !== "embedded") return [...checkServerUrl(database.url, path, tree), ...direct];
  if (queue.backend === "postgres") return [];
  const text = `is "redis" and database.url is "embedded"; set queue.backend to postgres, or database.url to a server`;
  return [{ path: ["queue", "backend"], text }];
}

function checkQueue({ queue }: ConfigValues, tree: Mapping): Conflict[] {
  if (queue.backend !== "redis" || hasScheme(queue.redis_url, ["redis:", "rediss:"])) return [];
  const path = ["queue", "redis_url"];
  const text = `${formatFound(tree, path)} and queue.backend is "redis"; expected redis://host:port`;
  return [{ path, text }];
}

function checkModel(values: ConfigValues, tree: Mapping): Conflict[] {
  return [...checkModelNames(values), ...checkDigest(values), ...checkSecondPass(values, tree)];
}

/**
 * The second pass of the big model needs at least the limits of any other pass. The conflict names the key that was set outside
 * the first file of the chain, which ships with the product.
 */
function checkSecondPass({ model }: ConfigValues, tree: Mapping): Conflict[] {
  if (model.big === null) return [];
  const keys = [
    ["max_tokens", "max_tokens_big_second"],
    ["timeout_s", "timeout_s_big_second"],
  ] as const;
  return keys.flatMap(([key, bigKey]): Conflict[] => {
    if (model[bigKey] >= model[key]) return [];
    const [path, bigPath] = [
      ["model", key],
      ["model", bigKey],
    ] as const;
    const [origin, bigOrigin] = [placeOf(tree, path).origin, placeOf(tree, bigPath).origin];
    if (bigOrigin === tree.place.origin && origin !== bigOrigin) {
      const text = `is ${model[key]}; expected at most model.${bigKey}, which is ${model[bigKey]}: raise both`;
      return [{ path, text }];
    }
    const text = `is ${model[bigKey]}; expected at least model.${key}, which is ${model[key]}`;
    return [{ path: bigPath, text }];
  });
}

/** A digest that pins no model would look like one that does. */
function checkDigest({ model }: ConfigValues): Conflict[] {
  if (model.digest === null) return [];
  const path = ["model", "digest"];
  if (!hasWeights(model.provider)) {
    return [
      {
        path,
        text: `is set, and model.provider "${model.provider}" has no weights; leave it null`,
      },
    ];
  }
  if (model.name !== null) return [];
  return [{ path, text: "is set, and model.name is null, which it would pin; set model.name" }];
}

function checkModelNames({ model }: ConfigValues): Conflict[] {
  if (!hasWeights(model.provider)) return [];
  if ([model.name, model.fast, model.big].some((name) => name !== null)) return [];
  const text = `is empty and model.provider is "${model.provider}"; expected a model's name here, in model.fast or in model.big`;
  return [{ path: ["model", "name"], text }];
}

function checkChunking({ index: { chunking } }: ConfigValues): Conflict[] {
  if (chunking.overlap < chunking.max_chars) return [];
  const text = `is ${chunking.overlap}; expected less than index.chunking.max_chars, which is ${chunking.max_chars}`;
  return [{ path: ["index", "chunking", "overlap"], text }];
}

/** The built-in embedder has no model that a prefix or another size could suit. */
function checkVectors({ embed }: ConfigValues): Conflict[] {
  if (embed.provider !== "hashing") return [];
  return (["query_prefix", "passage_prefix", "dimensions"] as const).flatMap((key) => {
    const value = embed[key];
    if (value === null || value === "") return [];
    const text = `is ${typeof value === "string" ? quote(value) : value}, and embed.provider "hashing" takes none; leave it null`;
    return [{ path: ["embed", key], text }];
  });
}

function checkSourceNames({ index: { sources } }: ConfigValues): Conflict[] {
  const names = sources.map(({ name }) => name);
  return names.flatMap((name, position) =>
    names.indexOf(name) === position
      ? []
      : [
          {
            path: ["index", "sources", position, "name"],
            text: `is "${name}" like an entry before; expected a name of its own`,
          },
        ],
  );
}

function checkSourceRoots({ index, security }: ConfigValues, workroot: string): Conflict[] {
  const allowed = security.allowed_roots.map((root) => resolve(workroot, root));
  return index.sources.flatMap(({ root }, position) => {
    const absolute = resolve(workroot, root);
    if (allowed.some((folder) => absolute === folder || isBelow(absolute, folder))) return [];
    const expected = `a folder in one of security.allowed_roots (${security.allowed_roots.map(quote).join(", ")})`;
    return [
      {
        path: ["index", "sources", position, "root"],
        text: `is ${quote(root)}; expected ${expected}`,
      },
    ];
  });
}

type Source = ConfigValues["index"]["sources"][number];

/** A mirrored source needs a remote, and a folder that nothing else writes. */
function checkRemotes({ index }: ConfigValues, workroot: string): Conflict[] {
  return index.sources.flatMap((source, position) => {
    const problems = [...mirrorProblems(source, workroot), ...remoteProblems(source)];
    const path = ["index", "sources", position];
    return problems.map(([key, text]) => ({ path: [...path, ...key.split(".")], text }));
  });
}

type RemoteProblem = readonly [key: string, text: string];

function* mirrorProblems(
  { from, remote, root, watch, write_back: writeBack }: Source,
  workroot: string,
): Generator<RemoteProblem> {
  if (writeBack !== undefined && from !== "paperless")
    yield ["write_back", "is for from: paperless; nothing is written to any other place"];
  for (const name of findRepeated(Object.values(writeBack?.custom_fields ?? {})))
    yield ["write_back.custom_fields", `names ${quote(name)} of two fields; expected one each`];
  if (from === undefined && remote === undefined) return;
  if (remote === undefined)
    yield ["from", 'is set without remote; expected remote: { url: "https://…" } beside it'];
  if (from === undefined)
    yield ["remote", "is set without from; expected the kind of place, like from: webdav"];
  if (!isBelow(resolve(workroot, root), workroot))
    yield ["root", "does not lie below the work root, as a mirror has to"];
  if (watch?.rules.some((rule) => rule.move_to !== undefined) === true)
    yield [
      "watch",
      "moves files of a mirror, which the next sync would fetch again; take move_to out",
    ];
}

/** Names that occur twice. Case is ignored, as paperless-ngx ignores it. */
function findRepeated(names: readonly string[]): readonly string[] {
  const folded = names.map((name) => name.toLowerCase());
  return names.filter((_, at) => folded.indexOf(folded[at] ?? "") < at);
}

/** URL schemes of each kind of remote, those with TLS first. */
const REMOTE_SCHEMES = {
  webdav: ["https:", "http:"],
  imap: ["imaps:", "imap:"],
  s3: ["https:", "http:"],
  paperless: ["https:", "http:"],
} as const;

/** Checks addresses only; a host name is resolved and checked when a sync connects. */
function* remoteProblems({ from, remote }: Source): Generator<RemoteProblem> {
  if (remote === undefined || from === undefined) return;
  const { user, secret_env, secret_file } = remote;
  const secrets = [secret_env, secret_file].filter((place) => place !== undefined);
  if (from === "paperless") {
    if (user !== undefined || secrets.length !== 1)
      yield ["remote", "needs one of secret_env and secret_file for its token, and no user"];
  } else if (secrets.length !== (user === undefined ? 0 : 1))
    yield ["remote", "needs user and one of secret_env and secret_file, or none of the three"];
  if (user === undefined && from === "imap")
    yield ["remote.user", "is missing; a mailbox needs it"];
  if (from === "s3" && user !== undefined && !/^[\x21-\x7e]+$/.test(user))
    yield ["remote.user", "is no id of an access key"];
  if (remote.folders !== undefined && from !== "imap")
    yield ["remote.folders", "is for from: imap; any other folder is named by the address"];
  for (const key of ["bucket", "region"] as const)
    if (remote[key] !== undefined && from !== "s3")
      yield [`remote.${key}`, "is for from: s3 alone"];
  const url = parseUrl(remote.url);
  const schemes: readonly string[] = REMOTE_SCHEMES[from];
  if (url === undefined || !schemes.includes(url.protocol) || url.hostname === "") {
    yield ["remote.url", `is no address; expected ${schemes[0] ?? ""}//host`];
    return;
  }
  if (from === "s3" && remote.bucket === undefined && url.pathname === "/")
    yield ["remote.url", `names no bucket; expected ${url.origin}/BUCKET/, or remote.bucket`];
  if (url.username + url.password + url.search + url.hash !== "")
    yield ["remote.url", "holds a user, a secret or a query; give it without, and set user"];
  const address = addressOfHost(url.hostname);
  const network = address === undefined ? "public" : networkKindOf(address);
  if (url.protocol === "http:" && network !== "loopback")
    yield ["remote.url", "is without TLS; expected https://, or an address of this machine"];
  if (address !== undefined && !allowedAddresses(networksOf(remote.allowed_networks))(address))
    yield [
      "remote.url",
      `is a ${network} address; add its network to allowed_networks, like [${address}]`,
    ];
}

/** A source can only index what the sandbox may read. */
function checkSourceExtensions({ index, security }: ConfigValues): Conflict[] {
  return index.sources.flatMap(({ exts = [] }, position) => {
    const refused = exts.filter((ext) => !security.allowed_exts.includes(ext));
    if (refused.length === 0) return [];
    const text = `holds ${refused.map(quote).join(", ")}, which security.allowed_exts does not allow; add it there`;
    return [{ path: ["index", "sources", position, "exts"], text }];
  });
}

/** Requires the slashes: the drivers silently take `postgres:user:password@host` for the name of a database. */
const hasScheme = (url: string, schemes: readonly string[]): boolean =>
  parseUrl(url) !== undefined &&
  schemes.some((scheme) => url.toLowerCase().startsWith(`${scheme}//`));

/**
 * Checks that schedules can run. Of a disabled one it checks only the name, because every command reads the configuration. A
 * starting worker and `schedule enable` check all of it.
 */
function checkSchedules(values: ConfigValues): Conflict[] {
  const entries = configuredSchedules(values);
  const names = entries.map(({ name }) => name);
  return entries.flatMap((entry, position) => {
    if (names.indexOf(entry.name) !== position) {
      const text = `is "${entry.name}" like an entry before; expected a name of its own`;
      return [{ path: ["schedules", position, "name"], text }];
    }
    if (!entry.enabled) return [];
    return checkSchedule(entry).map(({ key, text }) => ({
      path: ["schedules", position, key],
      text: `of "${entry.name}" ${text}`,
    }));
  });
}

function isWebhookSecret(secret: string): boolean {
  const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  const bytes = base64 === undefined ? 0 : Buffer.from(base64, "base64").length;
  return bytes >= 24 && bytes <= 64;
}

/** Checks the webhook for ends of batches. A host name is resolved and checked when the webhook is called. */
function checkWebhook({ on_batch_end }: ConfigValues): Conflict[] {
  const { webhook, secret, allowed_networks } = on_batch_end;
  if (secret !== null && !isWebhookSecret(secret)) {
    const expected =
      "is no secret of Standard Webhooks; expected whsec_ and 24 to 64 bytes in base64, like that of " +
      `\`echo "whsec_$(openssl rand -base64 32)"\``;
    return [{ path: ["on_batch_end", "secret"], text: expected }];
  }
  if (webhook === null) return [];
  const path = ["on_batch_end", "webhook"];
  const url = parseUrl(webhook);
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    return [
      { path, text: `is ${maskWebhook(webhook)}; expected http://host/path or https://host/path` },
    ];
  }
  const address = addressOfHost(url.hostname);
  if (address === undefined || allowedAddresses(networksOf(allowed_networks))(address)) return [];
  const text =
    `is ${maskWebhook(webhook)}, a ${networkKindOf(address)} address; expected a public one, or its network in ` +
    `on_batch_end.allowed_networks, like [${address}]`;
  return [{ path, text }];
}
