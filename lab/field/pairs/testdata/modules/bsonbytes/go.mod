module bsonbytes

go 1.26

require go.mongodb.org/mongo-driver v1.11.3
