/** The archive of a template: Terraform that coderd parses, and a script that the daemon follows. */
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import type { Script } from './stage.ts';
import { tarArchive } from './tar.ts';

export type TemplateContent = {
  readonly script?: Script | undefined;
  /** Names and defaults of parameters, all strings that a build may change. */
  readonly parameters?: Tags;
  /** `coder_workspace_tags`: Terraform expressions by tag name. */
  readonly workspaceTags?: Tags;
};

export function templateArchive(content: TemplateContent): Uint8Array {
  const { script = {}, parameters = {} } = content;
  const known = Object.entries(parameters).map(([name, value]) => ({ name, default: value }));
  return tarArchive({
    'main.tf': terraform(content),
    'story.json': JSON.stringify({ ...script, parameters: known }),
  });
}

function terraform({ parameters = {}, workspaceTags = {} }: TemplateContent): string {
  const tags = Object.entries(workspaceTags).map(([name, value]) => `    "${name}" = ${value}`);
  return [
    'terraform {\n  required_providers {\n    coder = { source = "coder/coder" }\n  }\n}\n',
    ...Object.entries(parameters).map(([name, value]) => parameterBlock(name, value)),
    ...(tags.length === 0
      ? []
      : [`data "coder_workspace_tags" "tags" {\n  tags = {\n${tags.join('\n')}\n  }\n}\n`]),
  ].join('\n');
}

function parameterBlock(name: string, value: string): string {
  return `data "coder_parameter" "${name}" {
  name    = "${name}"
  type    = "string"
  default = "${value}"
  mutable = true
}
`;
}
