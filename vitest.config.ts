import { defineConfig } from 'vitest/config';
import { HAS_LONG, IS_MUTATING, MUTATED_ROOM_TESTS } from './test/support/runs.ts';

/** What the quick run leaves out because another part of CI has it. */
const quick = {
  // CDK's own validation of a template takes six seconds. `.ci/run` keeps it:
  // test/infra/examples.full.test.ts, test/infra/plain/validation.full.test.ts and its own `cdk synth`
  CDK_VALIDATION: 'false',
};

export default defineConfig({
  test: {
    include: MUTATED_ROOM_TESTS ?? ['test/**/*.test.ts', 'lab/test/**/*.test.ts'],
    exclude: HAS_LONG ? [] : ['**/*.full.test.ts'],
    // some tests wait for a server or a shell while others compute
    maxWorkers: '150%',
    // Many files have imported the same modules by the time a worker has run a few of them. `.ci/nightly`
    // gives each file a process of its own, so that no test depends on another file.
    isolate: IS_MUTATING,
    globalSetup: 'test/support/run-environment.ts',
    // the second one fails a test that lets a token or key out
    setupFiles: ['test/support/own-environment.ts', 'test/secrets/watch.ts'],
    // the world's tests are busy, not waiting: a test that takes this long hangs
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // the bundled function runs as it is deployed: Node loads it, not the test runner
    server: { deps: { external: [/\/index\.mjs$/] } },
    env: {
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      POWERTOOLS_LOG_LEVEL: 'SILENT',
      POWERTOOLS_METRICS_DISABLED: 'true',
      ...(HAS_LONG ? {} : quick),
    },
  },
});
