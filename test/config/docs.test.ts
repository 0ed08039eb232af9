import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { FOLLOWING, renderJsonSchema, renderPage, renderSettingsTable } from '../../cli/docs.ts';
import { rootSetting, type SettingNode, settingsBelow } from '../../lambda/config/schema/settings.ts';

const inRoot = (file: string) => new URL(`../../${file}`, import.meta.url);

it('has in autoscaler.schema.json what `npm run docs` writes', () => {
  expect(readFileSync(inRoot('autoscaler.schema.json'), 'utf8')).toBe(renderJsonSchema());
});

it.each(['docs/settings.md', 'docs/cost.md'])('has in %s what `npm run docs` writes', (file) => {
  const page = readFileSync(inRoot(file), 'utf8');
  expect(page).toMatch(/^<!-- \/[a-z-]+ -->$/m);
  expect(renderPage(page)).toBe(page);
});

it('replaces only the part of a page between the markers', () => {
  const made = renderPage('# A\n<!-- settings -->\nold\n<!-- /settings -->\nrest\n');
  expect(made).toBe(`# A\n<!-- settings -->\n${renderSettingsTable()}\n<!-- /settings -->\nrest\n`);
  expect(renderPage('# A\n<!-- settings -->\n')).toBe('# A\n<!-- settings -->\n');
});

it('has a description of every setting and refuses unknown names in every mapping', () => {
  const settings = settingsBelow(rootSetting());
  expect(settings.filter(({ node }) => node.description === undefined)).toEqual([]);
  const isOpen = ({ properties, additionalProperties }: SettingNode) =>
    properties && additionalProperties !== false;
  expect([rootSetting(), ...settings.map(({ node }) => node)].filter(isOpen)).toEqual([]);
});

it('lists only existing settings among the defaults that follow another setting', () => {
  const paths = settingsBelow(rootSetting()).map(({ path }) => path);
  expect(Object.keys(FOLLOWING).filter((path) => !paths.includes(path))).toEqual([]);
});

it('writes a table of every setting with its type and default', () => {
  const rows = renderSettingsTable().split('\n');
  expect(rows.map((row) => row.split(' | ').slice(0, 3).join(' | '))).toMatchInlineSnapshot(`
    [
      "| setting | type | default",
      "|---|---|---|---|",
      "| \`coder.url\` | string | **required**",
      "| \`coder.token\` | \`{ secret, jsonKey? }\` | **required**",
      "| \`coder.caBundle\` | string | none",
      "| \`coder.proxy\` | string | none",
      "| \`coder.prebuildsFailureHardLimit\` | whole number, 0 or more | \`3\`",
      "| \`limits.maxTasks\` | whole number, 1 or more | \`100\`",
      "| \`limits.dollarsPerHour\` | dollars: \`0.10\` | none",
      "| \`looks.every\` | \`auto\` or duration: \`90s\`, \`5m\`, \`1h\` | \`auto\`",
      "| \`roll.atOnce\` | percentage: \`1%\` to \`100%\` | \`25%\`",
      "| \`waiting.person\` | dollars: \`0.10\` | \`0.1\`",
      "| \`waiting.autostart\` | dollars: \`0.10\` | \`waiting.person\`",
      "| \`waiting.prebuild\` | dollars: \`0.10\` | \`waiting.person\` / 20",
      "| \`waiting.stop\` | dollars: \`0.10\` | \`waiting.person\` / 100",
      "| \`alertAfter\` | duration: \`90s\`, \`5m\`, \`1h\` | \`5m\`",
      "| \`defaults.image\` | string | \`ghcr.io/coder/coder:v2.29.19\`",
      "| \`defaults.cpu\` | \`256\`, \`512\`, \`1024\`, \`2048\`, \`4096\`, \`8192\`, \`16384\` | \`1024\`",
      "| \`defaults.memory\` | whole number, 512 to 122880 | \`2048\`",
      "| \`defaults.architecture\` | \`arm64\`, \`x86_64\` | \`arm64\`",
      "| \`defaults.spot\` | boolean | \`false\`",
      "| \`managedKeys.token\` | \`{ secret, jsonKey? }\` | **required**",
      "| \`managedKeys.rotateAfterDays\` | whole number, 1 to 365 | \`30\`",
      "| \`pools\` | list | **required**",
      "| \`pools[].name\` | string | **required**",
      "| \`pools[].organization\` | string | **required**",
      "| \`pools[].tags\` | name: string | \`{}\`",
      "| \`pools[].key\` | \`managed\` or \`{ secret, jsonKey? }\` | none",
      "| \`pools[].psk\` | \`{ secret, jsonKey? }\` | none",
      "| \`pools[].token\` | \`{ secret, jsonKey? }\` | none",
      "| \`pools[].min\` | whole number, 0 or more | \`0\`, or \`1\` without a forecast",
      "| \`pools[].max\` | whole number, 1 or more | \`20\`",
      "| \`pools[].warm\` | \`auto\` or whole number, 0 or more | \`auto\`",
      "| \`pools[].waiting.person\` | dollars: \`0.10\` | \`waiting.person\`",
      "| \`pools[].waiting.autostart\` | dollars: \`0.10\` | \`waiting.autostart\`, or the pool's \`person\`",
      "| \`pools[].waiting.prebuild\` | dollars: \`0.10\` | \`waiting.prebuild\`, or the pool's \`person\` / 20",
      "| \`pools[].waiting.stop\` | dollars: \`0.10\` | \`waiting.stop\`, or the pool's \`person\` / 100",
      "| \`pools[].dollarsPerLaunch\` | dollars: \`0.10\` | \`0\`",
      "| \`pools[].idleTimeout\` | duration: \`90s\`, \`5m\`, \`1h\` | \`20s\`",
      "| \`pools[].prebuilds.maxTasks\` | whole number, 0 or more | 4/5 of \`max\`",
      "| \`pools[].whenBlind.floor\` | whole number, 0 or more | \`0\`",
      "| \`pools[].wake.autostart\` | boolean | \`true\`",
      "| \`pools[].wake.autostop\` | boolean | \`true\`",
      "| \`pools[].wake.maxDelay\` | duration: \`90s\`, \`5m\`, \`1h\` | \`10m\`",
      "| \`pools[].prewarm.max\` | whole number, 0 or more | the pool's \`max\`",
      "| \`pools[].startTime\` | duration: \`90s\`, \`5m\`, \`1h\` | \`90s\`",
      "| \`pools[].schedules\` | list | \`[]\`",
      "| \`pools[].schedules[].days\` | days: \`mon-fri\`, \`mon,wed\` | \`mon-sun\`",
      "| \`pools[].schedules[].from\` | time of day: \`08:30\` | **required**",
      "| \`pools[].schedules[].to\` | time of day: \`08:30\` | **required**",
      "| \`pools[].schedules[].timezone\` | string | **required**",
      "| \`pools[].schedules[].warm\` | whole number, 0 or more | \`0\`",
      "| \`pools[].schedules[].min\` | whole number, 0 or more | \`0\`",
      "| \`pools[].schedules[].except\` | list | \`[]\`",
      "| \`pools[].retiring\` | boolean | \`false\`",
      "| \`pools[].scaleIn\` | \`lease\`, \`confirm\`, \`never\` | \`lease\`",
      "| \`pools[].image\` | string | \`defaults.image\`",
      "| \`pools[].cpu\` | \`256\`, \`512\`, \`1024\`, \`2048\`, \`4096\`, \`8192\`, \`16384\` | \`defaults.cpu\`",
      "| \`pools[].memory\` | whole number, 512 to 122880 | \`defaults.memory\`",
      "| \`pools[].architecture\` | \`arm64\`, \`x86_64\` | \`defaults.architecture\`",
      "| \`pools[].spot\` | boolean | \`defaults.spot\`",
      "| \`pools[].environment\` | name: string | \`{}\`",
      "| \`pools[].secrets\` | name: \`{ secret, jsonKey? }\` | \`{}\`",
      "| \`pools[].spotBase\` | whole number, 0 or more | \`0\`",
      "| \`pools[].ephemeralStorage\` | whole number, 20 to 200 | \`20\`",
      "| \`pools[].readonlyRootFilesystem\` | boolean | \`false\`",
      "| \`pools[].prometheusPort\` | whole number, 1024 to 65535 | none",
      "| \`pools[].taskRole.arn\` | string | none",
      "| \`pools[].taskRole.policies\` | list | \`[]\`",
      "| \`pools[].taskRole.statements\` | list | \`[]\`",
      "| \`pools[].taskRole.statements[].actions\` | list | **required**",
      "| \`pools[].taskRole.statements[].resources\` | list | **required**",
      "| \`aws.stack\` | string | \`CoderProvisionerAutoscaler\`",
      "| \`aws.network.vpc\` | string | none",
      "| \`aws.network.subnets\` | list | \`[]\`",
      "| \`aws.network.securityGroups\` | list | \`[]\`",
      "| \`aws.network.natGateways\` | whole number, 1 to 2 | \`1\`",
      "| \`aws.network.endpoints\` | boolean | \`false\`",
      "| \`aws.cluster\` | string | none",
      "| \`aws.logs.group\` | string | none",
      "| \`aws.logs.retentionDays\` | \`1\`, \`3\`, \`5\`, \`7\`, \`14\`, \`30\`, \`60\`, \`90\`, \`120\`, \`150\`, \`180\`, \`365\`, \`400\`, \`545\`, \`731\`, \`1096\`, \`1827\`, \`2192\`, \`2557\`, \`2922\`, \`3288\`, \`3653\` | \`30\`",
      "| \`aws.kmsKey\` | string | none",
      "| \`aws.permissionsBoundary\` | string | none",
      "| \`aws.bindTaskRoles\` | boolean | \`false\`",
      "| \`aws.function.memory\` | whole number, 256 to 10240 | \`512\`",
      "| \`aws.function.inVpc\` | boolean | \`true\`",
      "| \`aws.function.tracing\` | boolean | \`false\`",
      "| \`aws.function.reservedConcurrency\` | whole number, 1 or more | none",
      "| \`aws.earlySuccess\` | boolean | \`false\`",
      "| \`aws.alarms.enabled\` | boolean | \`true\`",
      "| \`aws.alarms.topic\` | string | none",
      "| \`aws.alarms.emails\` | list | \`[]\`",
      "| \`aws.metrics.perPool\` | boolean | \`false\`",
      "| \`aws.tags\` | name: string | \`{}\`",
    ]
  `);
});
