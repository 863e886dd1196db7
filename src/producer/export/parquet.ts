import type { FileHandle } from "node:fs/promises";
import { ByteWriter, parquetWriteRows, schemaFromColumnData } from "hyparquet-writer";
import type { JobResult } from "../../shared/views/results.ts";
import { RESULT_COLUMNS } from "./table-columns.ts";
import type { CellValue, TypedColumn } from "./table-columns.ts";

/** Rows in memory at a time. */
const ROWS_OF_GROUP = 500;

const TYPES = { text: "STRING", count: "INT64", number: "DOUBLE", time: "TIMESTAMP" } as const;

/** Writes results as Parquet, one row per job, a group of rows at a time. @returns the number of jobs */
export async function writeParquet(
  results: AsyncIterable<JobResult>,
  handle: FileHandle,
): Promise<number> {
  let jobs = 0;
  async function* rows(): AsyncGenerator<Record<string, CellValue | bigint>> {
    for await (const result of results) {
      jobs += 1;
      yield Object.fromEntries(
        RESULT_COLUMNS.map((column) => [column.title, storedValue(column, result)]),
      );
    }
  }
  const columns = RESULT_COLUMNS.map(({ title, type }) => ({ name: title, type: TYPES[type] }));
  const writer = new ByteWriter();
  const flush = async (): Promise<void> => {
    const bytes = Buffer.from(writer.getBytes());
    writer.index = 0;
    await handle.appendFile(bytes);
  };
  await parquetWriteRows({
    writer: Object.assign(writer, { flush, finish: flush }),
    rows: rows(),
    columns,
    // Explicit, because the types can't be guessed for a batch without jobs.
    schema: schemaFromColumnData({
      columnData: columns.map((column) => ({ ...column, data: [] })),
    }),
    rowGroupSize: ROWS_OF_GROUP,
    createdBy: "nightdesk",
  });
  return jobs;
}

function storedValue<Row>({ type, value }: TypedColumn<Row>, row: Row): CellValue | bigint {
  const cell = value(row);
  return type === "count" && typeof cell === "number" ? BigInt(cell) : cell;
}
