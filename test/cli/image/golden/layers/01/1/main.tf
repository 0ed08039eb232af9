terraform {
  required_providers {
    packed = {
      source  = "registry.example.com/acme/big"
      version = "5.31.0"
    }
  }
}
