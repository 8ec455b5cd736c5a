package receiver

// RefuseMetadata is the check that is made of an address before it is dialled.
var RefuseMetadata = refuseMetadata
