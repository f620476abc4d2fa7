module bunstock

go 1.25

require github.com/uptrace/bunrouter v1.0.23
