import { databaseCommand, userName } from "../../shared/commands/command-context.ts";
import type { CommandHandler, Invocation } from "../../shared/commands/command.ts";
import type { Config } from "../../shared/config/schema.ts";
import { hintNames } from "../../shared/text/close-names.ts";
import { Failure } from "../../shared/failure.ts";
import { closeAsCancelled, endWaitingJobs } from "../../shared/store/jobs/close-batches.ts";
import { selectOpenBatches } from "../../shared/store/programs/batches.ts";
import { formatCount } from "../../shared/views/quantity.ts";
import { recordAction } from "../../shared/store/operator/actions.ts";
import {
  createToken,
  listTokens,
  READING_KINDS,
  revokeToken,
  TOKEN_KINDS,
  TOKEN_SCOPES,
} from "../../shared/store/programs/tokens.ts";
import type { Token, TokenGrant } from "../../shared/store/programs/tokens.ts";
import { parseDuration } from "../../shared/schedules/time.ts";
import { presetsOf } from "../../shared/config/tool-presets.ts";
import { NAME, tableOf, time } from "../../shared/views/section.ts";
import type { Table } from "../../shared/views/section.ts";
import { createModelNames } from "../../shared/enqueue/model-names.ts";
import { printList } from "../print/sections.ts";
import { argumentOf, textOf } from "./options.ts";

type Options = Invocation["options"];

/** Creates a token. Its secret is printed and not stored. */
export const tokensCreate: CommandHandler = databaseCommand(
  async ({ invocation, config, terminal }, database) => {
    const grant = grantOf(invocation, config);
    const { tokenId, secret } = await database.transaction(async (db) => {
      const created = await createToken(db, grant);
      await recordAction(
        db,
        { actor: userName(), action: "create-token", detail: { ...grant } },
        `Token ${grant.name}.`,
      );
      return created;
    });
    if (terminal.isJson)
      return terminal.printJson({ ok: true, token_id: tokenId, token: secret, ...jsonOf(grant) });
    await terminal.print(secret);
    terminal.say(
      `Token ${JSON.stringify(grant.name)}, until ${grant.expiresAt.toISOString().slice(0, 10)}: ${allowedText(grant)}. It is shown this once; ` +
        "only its hash is kept.",
    );
  },
);

const MOST_NAME_CHARS = 100;
const DEFAULT_EXPIRY = "90d";
const MOST_DAYS = 3_650;
const DAY_MS = 86_400_000;

/** @throws Failure USAGE_ERROR, INPUT_INVALID or NOT_FOUND for an invalid grant */
function grantOf(invocation: Invocation, config: Config): TokenGrant {
  const { options } = invocation;
  const kinds = chosen(options, "kind", TOKEN_KINDS) ?? ["ask", "summarize", "extract", "chat"];
  const sources = known(
    options,
    "source",
    config.index.sources.map(({ name }) => name),
  );
  const presets = known(
    options,
    "preset",
    presetsOf(config.tools.presets).map(({ name }) => name),
  );
  const models = known(
    options,
    "model",
    createModelNames(config, { override: undefined, names: "known" }).known,
  );
  const reading = kinds.filter((kind) => READING_KINDS.includes(kind));
  if (reading.length > 0 && sources.length === 0) {
    throw new Failure(
      "USAGE_ERROR",
      `Jobs of kind ${reading.join(", ")} read documents: name their sources by --source, or choose --kind chat.`,
    );
  }
  if (kinds.includes("investigate") !== presets.length > 0) {
    throw new Failure(
      "USAGE_ERROR",
      "--kind investigate and --preset stand together: a preset says which tools its investigations have.",
    );
  }
  return {
    ...{ name: nameOf(argumentOf(invocation)), kinds, sources, presets, models },
    scopes: chosen(options, "scope", TOKEN_SCOPES) ?? ["batches:write"],
    expiresAt: expiryOf(textOf(options, "expires") ?? DEFAULT_EXPIRY),
  };
}

function nameOf(name: string): string {
  if (name.trim() !== "" && name.length <= MOST_NAME_CHARS && !/[\p{Cc}\p{Cs}]/u.test(name))
    return name;
  throw new Failure(
    "USAGE_ERROR",
    `The name of a token has 1 to ${MOST_NAME_CHARS} characters, none of them a control character.`,
  );
}

function expiryOf(text: string): Date {
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0 && ms <= MOST_DAYS * DAY_MS) return new Date(Date.now() + ms);
  throw new Failure(
    "USAGE_ERROR",
    `--expires ${JSON.stringify(text)}; expected a duration like 12h or 90d, up to ${MOST_DAYS}d.`,
  );
}

/** The distinct values of a repeatable option. */
function listOf(options: Options, name: string): readonly string[] {
  const given: unknown = options[name];
  return Array.isArray(given) ? [...new Set(given.map(String))] : [];
}

function chosen<T extends string>(
  options: Options,
  name: string,
  of: readonly T[],
): T[] | undefined {
  const given = listOf(options, name);
  if (given.length === 0) return undefined;
  const found = of.filter((one) => given.includes(one));
  if (found.length === given.length) return found;
  throw new Failure("USAGE_ERROR", `--${name} takes ${of.join(", ")}; each may be given once.`);
}

function known(options: Options, name: string, names: readonly string[]): string[] {
  const given = listOf(options, name);
  const wrong = given.find((one) => !names.includes(one));
  if (wrong === undefined) return [...given];
  throw new Failure(
    "NOT_FOUND",
    `--${name} ${JSON.stringify(wrong)} is not configured. There are: ${names.join(", ")}.`,
  );
}

/** Lists tokens, newest first, without their secrets. */
export const tokensList: CommandHandler = databaseCommand(async ({ terminal }, database) => {
  const tokens = await listTokens(database);
  if (terminal.isJson)
    return terminal.printJson(
      tokens.map((token) => ({
        ...{ token_id: token.tokenId, ...jsonOf(token), state: stateOf(token) },
        ...{ created_at: token.createdAt, last_used_at: token.lastUsedAt },
        revoked_at: token.revokedAt,
      })),
    );
  if (tokens.length > 0) await printList(terminal, tokenTable(tokens));
  else
    terminal.say("There is no token. Make one with: nightdesk tokens create NAME --source SOURCE");
});

const jsonOf = ({ name, scopes, kinds, sources, presets, models, expiresAt }: TokenGrant) => ({
  ...{ name, scopes, kinds, sources, presets, models },
  expires_at: expiresAt,
});

const stateOf = ({ revokedAt, expiresAt }: Token): "revoked" | "expired" | "valid" =>
  revokedAt !== null ? "revoked" : expiresAt <= new Date() ? "expired" : "valid";

const tokenTable = (tokens: readonly Token[]): Table =>
  tableOf(tokens, [
    ["token", ({ name }) => name, NAME],
    ["state", stateOf],
    ["allows", allowedText, { least: 20 }],
    ["expires", ({ expiresAt }) => time(expiresAt, "minutes"), { leftOut: 2 }],
    ["last used", ({ lastUsedAt }) => (lastUsedAt === null ? null : time(lastUsedAt, "minutes"))],
  ]);

function allowedText({ scopes, kinds, sources, presets, models }: TokenGrant): string {
  const parts = [
    scopes.join(", "),
    kinds.join(", "),
    ...(sources.length === 0 ? [] : [`sources ${sources.join(", ")}`]),
    ...(presets.length === 0 ? [] : [`presets ${presets.join(", ")}`]),
    ...(models.length === 0 ? [] : [`models ${models.join(", ")}`]),
  ];
  return parts.join("; ");
}

/** Revokes a token, and cancels its open batches. */
export const tokensRevoke: CommandHandler = databaseCommand(
  async ({ invocation, terminal }, database) => {
    const name = argumentOf(invocation);
    const revoked = await database.transaction(async (db) => {
      const token = await revokeToken(db, name);
      if (token === undefined) return undefined;
      await recordAction(
        db,
        { actor: userName(), action: "revoke-token", detail: { name } },
        `Token ${name} is revoked: it lets nobody in any more.`,
      );
      const open = await selectOpenBatches(db, token.tokenId);
      for (const batchId of open) await closeAsCancelled(db, batchId);
      return { ...token, open };
    });
    if (revoked === undefined) throw noToken(name, await listTokens(database));
    for (const batchId of revoked.open) await endWaitingJobs(database, batchId);
    const cancelled = revoked.open.length;
    if (terminal.isJson)
      return terminal.printJson({ ok: true, token_id: revoked.tokenId, name, cancelled });
    const of =
      cancelled === 0
        ? "It had no open batch"
        : `Its open batches were cancelled: ${formatCount(cancelled)}`;
    terminal.say(`Token ${JSON.stringify(name)} is revoked: it lets nobody in any more. ${of}.`);
  },
);

function noToken(name: string, tokens: readonly Token[]): Failure {
  const valid = tokens.filter(({ revokedAt }) => revokedAt === null).map((token) => token.name);
  const hint = hintNames(name, valid, "nightdesk tokens list shows all.");
  return new Failure("NOT_FOUND", `There is no token ${JSON.stringify(name)} in use; ${hint}`);
}
