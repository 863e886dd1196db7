type Assertion = {
  readonly fullName: string;
  readonly status: string;
  readonly ancestorTitles: readonly string[];
  readonly invocations?: number;
};

export type Report = {
  readonly tests: string;
  readonly seconds: number;
  readonly results: {
    readonly testResults: readonly {
      readonly name: string;
      readonly startTime: number;
      readonly endTime: number;
      readonly assertionResults: readonly Assertion[];
    }[];
  };
};

export function triedAgain(reports: readonly Report[]): readonly string[];
export function describeTimes(reports: readonly Report[]): readonly string[];
