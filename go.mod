module github.com/keyheat/keyheat

go 1.26

require (
	github.com/klauspost/compress v1.20.3
	pgregory.net/rapid v1.3.0
)
