module journalcommit

go 1.26
