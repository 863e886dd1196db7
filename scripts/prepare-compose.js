import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runScript } from "./phase.js";
import { root } from "./root.js";

const secrets = process.env.NIGHTDESK_SECRETS ?? join(root, "secrets");
const workroot = process.env.NIGHTDESK_WORKROOT ?? join(root, "workroot");

/** What docker-compose.yml mounts. Run again, it changes nothing: passwords are kept in the database's volume, too. */
await runScript(() => {
  for (const source of ["corpus", "scratch"]) {
    mkdirSync(join(workroot, "allowed", source), { recursive: true });
  }
  const isMade = existsSync(join(secrets, "database_url"));
  if (isMade && existsSync(join(secrets, "dashboard_token"))) {
    process.stderr.write(`${secrets} is there, and stays as it is.\n`);
    return 0;
  }
  // The token came later than the others.
  if (!isMade) writeSecrets();
  write("dashboard_token", randomBytes(24).toString("hex"));
  process.stderr.write(
    `Wrote ${secrets}. Put documents into ${join(workroot, "allowed", "corpus")}, then run: docker compose up --detach --wait\n`,
  );
  return 0;
});

function writeSecrets() {
  // The folder keeps other users out; the files are mounted one by one, and each container's own user must read them.
  mkdirSync(secrets, { recursive: true, mode: 0o700 });
  writeFileSync(join(secrets, ".gitignore"), "*\n");
  const [superuser, nightdesk, redis] = [1, 2, 3].map(() => randomBytes(24).toString("hex"));
  write("postgres_password", superuser);
  write("nightdesk_password", nightdesk);
  write("redis_password", redis);
  write("redis_url", `redis://:${redis}@redis:6379`);
  // Last: where it is there, all are.
  write("database_url", `postgres://nightdesk:${nightdesk}@postgres:5432/nightdesk`);
}

function write(name, text) {
  writeFileSync(join(secrets, name), text, { mode: 0o644 });
}
