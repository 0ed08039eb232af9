/** Undoes what a test file does to the environment, because the next one may share its process. */
import { afterAll } from 'vitest';

const before = { ...process.env };
afterAll(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
});
