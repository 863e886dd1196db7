import { spawn } from "node:child_process";
import { once } from "node:events";
import { AwsClient } from "aws4fetch";
import { findFreePort, isListening } from "../services/free-port.js";
import { waitUntil } from "../services/wait-until.js";

const COMMAND = process.env["TEST_S3_SERVER"];

/** moto's server of S3, in the root that .ci/moto fills. */
export const hasMoto = COMMAND !== undefined;

export type Bucket = {
  readonly url: string;
  readonly user: string;
  readonly secret: string;
  /** Of a key, as it is. */
  put(
    key: string,
    content: string | Buffer,
    headers?: Readonly<Record<string, string>>,
  ): Promise<void>;
  remove(key: string): Promise<void>;
  /** A version of an object. */
  read(key: string, version: string): Promise<string>;
  /**
   * Whether secrets and rights are checked; they are not at first. moto takes the signature of a key with other characters
   * than plain ones for wrong.
   */
  check(what: "keys" | "nothing"): Promise<void>;
  stop(): Promise<void>;
};

const USER = { UserName: "night", Version: "2010-05-08" };
/** Its user may not read `denied.txt` of any folder. */
const POLICY = {
  Version: "2012-10-17",
  Statement: [
    { Effect: "Allow", Action: "*", Resource: "*" },
    { Effect: "Deny", Action: "s3:GetObject", Resource: "arn:aws:s3:::*/denied.txt" },
  ],
};
const NO_CHECKS = "1000000000";

/** Serves one empty bucket that keeps versions, to one user. */
export async function startMoto(name: string): Promise<Bucket> {
  const port = await findFreePort();
  const child = spawn(COMMAND ?? "", ["serve", String(port)], {
    env: { ...process.env, INITIAL_NO_AUTH_ACTION_COUNT: NO_CHECKS },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exited = once(child, "exit");
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4_000)));
  const isUp = await waitUntil(async () => {
    if (child.exitCode !== null) throw new Error(said);
    return isListening(port);
  }, 60_000);
  if (!isUp) throw new Error(`moto did not begin to listen: ${said}`);
  const host = `http://127.0.0.1:${port}`;
  const nobody = { accessKeyId: "none", secretAccessKey: "none", region: "us-east-1", retries: 0 };
  const ask = async (client: AwsClient, url: string, init: RequestInit): Promise<string> => {
    const answer = await client.fetch(url, init);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${init.method ?? ""} ${url}: ${answer.status} ${text}`);
    return text;
  };
  const iam = new AwsClient({ ...nobody, service: "iam" });
  const administer = (values: Readonly<Record<string, string>>) =>
    ask(iam, host, {
      method: "POST",
      body: new URLSearchParams({ ...USER, ...values }).toString(),
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
  await administer({ Action: "CreateUser" });
  const PolicyDocument = JSON.stringify(POLICY);
  await administer({ Action: "PutUserPolicy", PolicyName: "all", PolicyDocument });
  const made = await administer({ Action: "CreateAccessKey" });
  const [, user = ""] = /<AccessKeyId>(.+?)</.exec(made) ?? [];
  const [, secret = ""] = /<SecretAccessKey>(.+?)</.exec(made) ?? [];
  const s3 = new AwsClient({
    ...nobody,
    ...{ accessKeyId: user, secretAccessKey: secret, service: "s3" },
  });
  const at = (key: string): string =>
    `${host}/${name}/${key.split("/").map(encodeURIComponent).join("/")}`;
  await ask(s3, `${host}/${name}`, { method: "PUT" });
  await ask(s3, `${host}/${name}?versioning`, {
    method: "PUT",
    body: "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>",
  });
  return {
    ...{ url: `${host}/${name}/`, user, secret },
    async put(key, content, headers = {}) {
      await ask(s3, at(key), {
        method: "PUT",
        body: typeof content === "string" ? content : new Uint8Array(content),
        headers,
      });
    },
    async remove(key) {
      await ask(s3, at(key), { method: "DELETE" });
    },
    read: (key, version) => ask(s3, `${at(key)}?versionId=${version}`, {}),
    async check(what) {
      const body = what === "keys" ? "0" : NO_CHECKS;
      await fetch(`${host}/moto-api/reset-auth`, { method: "POST", body });
    },
    async stop() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}
