import { rootCertificates } from "node:tls";
import { readCertificates, readSecret } from "../../shared/config/read-secret.ts";
import type { Config } from "../../shared/config/schema.ts";
import { networksOf, allowedAddresses } from "../../shared/http/network-address.ts";
import { denied } from "./http-place.ts";
import type { PaperlessPlace } from "../paperless/paperless-api.ts";
import type { HttpPlace } from "./http-place.ts";
import type { Remote } from "./remote.ts";

type Source = Config["index"]["sources"][number];
/** A source that mirrors a remote place. */
export type MirroredSource = Source & {
  readonly from: NonNullable<Source["from"]>;
  readonly remote: NonNullable<Source["remote"]>;
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Opens the remote place of a source, and loads the code of its kind. The secret never gets into a row, a log or a message.
 * @throws Failure SOURCE_DENIED if the secret is missing
 */
export async function openRemote(
  source: MirroredSource,
  { roots }: Pick<Config, "roots">,
  env: Environment,
): Promise<Remote> {
  const { remote } = source;
  const { place, login } = await readPlace(source, roots.configRoot, env);
  const url = new URL(remote.url);
  switch (source.from) {
    case "webdav": {
      const { openWebDav } = await import("./webdav.ts");
      return openWebDav({ ...place, url, login });
    }
    case "s3": {
      const { openS3 } = await import("./s3.ts");
      const { bucket, region = "us-east-1" } = remote;
      return openS3({ ...place, url, login, bucket, region });
    }
    case "imap": {
      if (login === null) throw denied(place, "a mailbox needs user and secret");
      const { openMailbox } = await import("./imap.ts");
      return openMailbox({ ...place, url, login, folders: remote.folders ?? ["INBOX"] });
    }
    case "paperless": {
      const { openPaperless } = await import("./paperless.ts");
      return openPaperless(paperlessPlace(place, url, login));
    }
  }
}

/** The paperless-ngx server that a source mirrors, to write to it. @throws as openRemote */
export async function openPaperlessPlace(
  source: MirroredSource,
  { roots }: Pick<Config, "roots">,
  env: Environment,
): Promise<PaperlessPlace> {
  const { place, login } = await readPlace(source, roots.configRoot, env);
  return paperlessPlace(place, new URL(source.remote.url), login);
}

function paperlessPlace(place: HttpPlace, url: URL, login: Login | null): PaperlessPlace {
  if (login === null) throw denied(place, "paperless-ngx needs a token");
  return { ...place, url, token: login.secret };
}

async function readPlace(source: MirroredSource, configRoot: string, env: Environment) {
  const { remote } = source;
  const place: HttpPlace = {
    source: source.name,
    timeoutMs: remote.timeout_s * 1_000,
    isAllowed: allowedAddresses(networksOf(remote.allowed_networks)),
    ca: await readAuthorities(source, configRoot),
  };
  return { place, login: await readLogin(source, configRoot, env) };
}

export type Login = { readonly user: string; readonly secret: string };

const MOST_SECRET_BYTES = 4_096;

async function readLogin(
  { name, from, remote }: MirroredSource,
  folder: string,
  env: Environment,
): Promise<Login | null> {
  const { user = from === "paperless" ? "" : undefined } = remote;
  const { secret_env: variable, secret_file: file } = remote;
  if (user === undefined) return null;
  const place = { variable, file, folder, maxBytes: MOST_SECRET_BYTES };
  const secret = await readSecret(place, env);
  if (secret !== null && secret !== "") return { user, secret };
  const where =
    variable === undefined
      ? `${file ?? ""} (remote.secret_file) holds no secret`
      : `the variable ${variable} (remote.secret_env) of this worker holds no secret`;
  throw denied({ source: name }, where);
}

async function readAuthorities(
  { name, remote }: MirroredSource,
  folder: string,
): Promise<readonly string[] | undefined> {
  const { ca_file: file } = remote;
  if (file === undefined) return undefined;
  const certificates = await readCertificates(file, folder);
  if (certificates !== null) return [...rootCertificates, certificates];
  throw denied({ source: name }, `${file} (remote.ca_file) holds no certificate in PEM`);
}
