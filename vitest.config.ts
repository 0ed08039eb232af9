import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // a test fails that lets a token or key out
    setupFiles: ['test/secrets/watch.ts'],
    // by default one processor is left idle: of two, that is half
    maxWorkers: '100%',
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
    },
  },
});
