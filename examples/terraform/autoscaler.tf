# The stack that `autoscaler synth` writes, with a bucket for the code of its functions: docs/terraform.md.

terraform {
  required_version = ">= 1.3"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 4.9"
    }
  }
}

variable "template" {
  description = "The folder that autoscaler synth has written."
  type        = string
  default     = "autoscaler-template"
}

variable "stack" {
  description = "The name of the stack: aws.stack in autoscaler.yaml."
  type        = string
  default     = "CoderProvisionerAutoscaler"
}

resource "aws_s3_bucket" "assets" {
  bucket_prefix = "coder-autoscaler-"
}

resource "aws_s3_object" "assets" {
  for_each = fileset("${var.template}/assets", "*")
  bucket   = aws_s3_bucket.assets.id
  key      = each.key
  source   = "${var.template}/assets/${each.key}"

  # A failed update needs the earlier code. So Terraform deletes that after the update of the stack.
  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_s3_object" "template" {
  bucket = aws_s3_bucket.assets.id
  # A changed template has a new key. So Terraform sees the change and updates the stack.
  key    = "template-${filesha256("${var.template}/template.json")}.json"
  source = "${var.template}/template.json"

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_cloudformation_stack" "autoscaler" {
  name = var.stack
  # too long for template_body
  template_url = "https://${aws_s3_bucket.assets.bucket_regional_domain_name}/${aws_s3_object.template.key}"
  capabilities = ["CAPABILITY_IAM"]
  parameters = {
    AssetBucket = aws_s3_bucket.assets.id
    # After a failed update Terraform's state has the new template_url. Only this parameter, which CloudFormation
    # rolls back, shows the next apply that the stack is still the old one.
    TemplateHash = filesha256("${var.template}/template.json")
  }
  depends_on = [aws_s3_object.assets]

  # A new image or size replaces tasks only after their builds have ended.
  timeouts {
    create = "60m"
    update = "4h"
    delete = "60m"
  }
}

output "cluster" {
  value = aws_cloudformation_stack.autoscaler.outputs["ClusterName"]
}
