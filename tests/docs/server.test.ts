import { randomBytes } from "node:crypto";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import pg from "pg";
import { blocksOf, readDoc, sectionOf } from "./read-doc.ts";
import { openSession } from "./session.ts";
import type { Session } from "./session.ts";

const serverUrl = process.env["TEST_DATABASE_URL"];
const redisUrl = process.env["TEST_REDIS_URL"];

const blocks = blocksOf(sectionOf(readDoc("docs/many-machines.md"), "From one machine to many"));
const bodyOf = (language: string): string =>
  blocks.find((block) => block.language === language)?.body ?? "";

/** What the document says about a server, done in the folder that it was done in with the embedded database. */
(serverUrl === undefined ? describe.skip : describe)(
  "on postgres, as a user without rights",
  () => {
    const name = `nightdesk_docs_${randomBytes(6).toString("hex")}`;
    const url = Object.assign(new URL(serverUrl ?? ""), {
      pathname: `/${name}`,
      username: name,
      password: "password",
    }).href;
    let session: Session;

    beforeAll(async () => {
      await asSuperuser("", `create role ${name} login password 'password'`);
      await asSuperuser("", `create database ${name} owner ${name}`);
      session = openSession();
    });
    afterAll(async () => {
      await session.close();
      await asSuperuser("", `drop database ${name} with (force)`);
      await asSuperuser("", `drop owned by ${name}`);
      await asSuperuser("", `drop role ${name}`);
    });

    test("a superuser prepares the database as it says", async () => {
      const statements = bodyOf("sql").split(/;\n(?=create|grant|do)/);
      expect(statements).toHaveLength(5);
      for (const statement of statements) {
        await asSuperuser(name, statement.replaceAll(/(?<=to )nightdesk\b/g, name));
      }
    });

    test("the same configuration then works with the URL alone", async () => {
      const script = bodyOf("sh")
        .replace(/(?<=DATABASE_URL=).+/, url)
        .replace(
          "nightdesk worker",
          "nightdesk index --no-wait\nnightdesk worker --drain 2> worker.log",
        );
      expect(await session.run(`${script}nightdesk doctor --no-ollama`)).toMatchObject({
        exitCode: 0,
        output: expect.stringMatching(/DOCTOR_INDEX_NONEMPTY: 68 documents[^]*warn=1 fail=0/),
      });
    });

    (redisUrl === undefined ? test.skip : test)("and with Redis for the queue", async () => {
      const yaml = blocks.find(({ body }) => body.includes("redis_url"))?.body ?? "";
      const queue = yaml.replace(/redis:[^"]+/, new URL("/8", redisUrl).href);
      appendFileSync(join(session.desk, "nightdesk.yaml"), queue);
      const script = `export DATABASE_URL=${url}\nnightdesk doctor --no-ollama`;
      expect(await session.run(script)).toMatchObject({
        exitCode: 0,
        output: expect.stringContaining(
          "DOCTOR_QUEUE_OK: Redis answers, and a job was moved through it.",
        ),
      });
    });
  },
);

const ALREADY_THERE = "42710";

/** A role is shared by all databases of a server, and another installation on it may have made it. */
async function asSuperuser(database: string, statement: string): Promise<void> {
  const url = new URL(serverUrl ?? "");
  if (database !== "") url.pathname = `/${database}`;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    await client.query(statement);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== ALREADY_THERE) throw error;
  } finally {
    await client.end();
  }
}
