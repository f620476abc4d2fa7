module phrasebook

go 1.26
