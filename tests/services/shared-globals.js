// Stands for `@jest/globals` where test files share their modules. jest makes `test` and its like anew for each file, and a
// module that several files import is evaluated for the first of them: so what it imports looks up the present ones.
const file = { globals: undefined };

/** From here on tests are those of the next file. */
export function setGlobals(globals) {
  file.globals = globals;
}

function lookUp(find) {
  return new Proxy(() => undefined, {
    apply: (_, __, args) => find()(...args),
    get: (_, key) => lookUp(() => find()[key]),
  });
}

export const describe = lookUp(() => file.globals.describe);
export const test = lookUp(() => file.globals.test);
export const beforeAll = lookUp(() => file.globals.beforeAll);
export const beforeEach = lookUp(() => file.globals.beforeEach);
export const afterEach = lookUp(() => file.globals.afterEach);
export const afterAll = lookUp(() => file.globals.afterAll);
export const expect = lookUp(() => file.globals.expect);
