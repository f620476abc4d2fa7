module walletsettle

go 1.24
