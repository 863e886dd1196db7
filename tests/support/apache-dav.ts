import { spawn } from "node:child_process";
import { once } from "node:events";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort, isListening } from "../services/free-port.js";
import { waitUntil } from "../services/wait-until.js";

const APACHE = "/usr/sbin/apache2";
const MODULES = "/usr/lib/apache2/modules";

/** Apache with mod_dav, as Debian packages it; .ci/run installs it. */
export const hasApache = existsSync(APACHE) && existsSync(join(MODULES, "mod_dav_fs.so"));

export type DavServer = {
  /** Of the folder that it serves, with a slash at the end. */
  readonly url: string;
  readonly folder: string;
  stop(): Promise<void>;
};

/** Serves a folder at /dav/ to the user `night` with that password. */
export async function startApacheDav(password: string): Promise<DavServer> {
  const base = await mkdtemp(join(tmpdir(), "nightdesk-dav-"));
  const folder = join(base, "dav");
  await mkdir(folder);
  const port = await findFreePort();
  const digest = createHash("sha1").update(password).digest("base64");
  await writeFile(join(base, "users"), `night:{SHA}${digest}\n`);
  const modules = [
    ...["mpm_event", "authn_core", "authn_file", "auth_basic", "authz_core", "authz_user"],
    ...["dav", "dav_fs"],
  ];
  const isRoot = process.getuid?.() === 0;
  await writeFile(
    join(base, "httpd.conf"),
    [
      ...[`ServerRoot ${base}`, `PidFile ${base}/pid`, `ErrorLog ${base}/error.log`],
      ...[`Listen 127.0.0.1:${port}`, "ServerName localhost", `DocumentRoot ${base}`],
      ...modules.map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`),
      ...(isRoot ? ["User nobody", "Group nogroup"] : []),
      ...[`DavLockDB ${base}/locks`, "StartServers 1", "ServerLimit 1", "ThreadsPerChild 25"],
      ...["MaxRequestWorkers 25", `<Directory ${folder}>`],
      ...["Dav On", "AuthType Basic", "AuthName x", `AuthUserFile ${base}/users`],
      ...["Require valid-user", "</Directory>"],
    ].join("\n"),
  );
  if (isRoot) for (const path of [base, folder]) await chown(path, 65534, 65534);
  const child = spawn(APACHE, ["-f", join(base, "httpd.conf"), "-DFOREGROUND"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exited = once(child, "exit");
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const isUp = await waitUntil(async () => {
    if (child.exitCode !== null) throw new Error(said);
    return isListening(port);
  }, 10_000);
  if (!isUp) throw new Error("apache2 did not begin to listen");
  return {
    url: `http://127.0.0.1:${port}/dav/`,
    folder,
    async stop() {
      child.kill("SIGTERM");
      await exited;
      await rm(base, { recursive: true, force: true });
    },
  };
}
