#!/usr/bin/env node
import { runCli } from './program.ts';

process.exitCode = await runCli(process.argv.slice(2), {
  environment: process.env,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
