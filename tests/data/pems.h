#ifndef TESTS_DATA_PEMS_H
#define TESTS_DATA_PEMS_H

/*
 * pems: certificates and keys for tests, created with openssl(1) and not used elsewhere. PEMS_CERT
 * is signed by PEMS_CA and belongs to PEMS_KEY; PEMS_KEY_SEC1 and the encrypted keys are the same
 * key.
 */
#define PEMS_CA                                                                                    \
	"-----BEGIN CERTIFICATE-----\n"                                                            \
	"MIIBcTCCARegAwIBAgIUSsMolSh4UmWTxKh2u4xjLCg2UM8wCgYIKoZIzj0EAwIw\n"                       \
	"DTELMAkGA1UEAwwCY2EwIBcNMjYxMTIyMjIwNTM2WhgPMjEyNjEwMjkyMjA1MzZa\n"                       \
	"MA0xCzAJBgNVBAMMAmNhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeEmeI/4m\n"                       \
	"tpSrDk5BsWdb6fvQV/DXbwJVCY/7sbQnIdvSYm1VWAJ2B1UxHZmPY/7/AqKDrV99\n"                       \
	"2FbX51mcK9yCFaNTMFEwHQYDVR0OBBYEFNOk81WAohHFKXhbYPanMfEg8peEMB8G\n"                       \
	"A1UdIwQYMBaAFNOk81WAohHFKXhbYPanMfEg8peEMA8GA1UdEwEB/wQFMAMBAf8w\n"                       \
	"CgYIKoZIzj0EAwIDSAAwRQIhAJRz/nlvIONetBuBOHHiyqrnpCoflHZ60V9C787M\n"                       \
	"c2+QAiATA4rLnn109f+qR/u71sDkye3pHbTkQSuAw53qJM/A7g==\n"                                   \
	"-----END CERTIFICATE-----\n"
#define PEMS_CERT                                                                                  \
	"-----BEGIN CERTIFICATE-----\n"                                                            \
	"MIIBGzCBwQIUM8+fXOdJpQNjgeGm7VVGQnESMuwwCgYIKoZIzj0EAwIwDTELMAkG\n"                       \
	"A1UEAwwCY2EwIBcNMjYxMTIyMjIwNTM2WhgPMjEyNjEwMjkyMjA1MzZaMBExDzAN\n"                       \
	"BgNVBAMMBnRlbmFudDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABJ1fSek+Lacu\n"                       \
	"eBOBZj4e2/HnDWcDJzne2K1P3krqcM0JX+gL3XYfbnfEA2cHJrp1vZtjg1iknUyk\n"                       \
	"q11jAUfAhuUwCgYIKoZIzj0EAwIDSQAwRgIhAJiO72JrZO6L2i6ZPl9daxawU75N\n"                       \
	"6a/EoHTam6zyM2+7AiEA0I8ZTOsby9+bFcVpJv9YdEpvuXiPu3+bLotrOzHlsI4=\n"                       \
	"-----END CERTIFICATE-----\n"
#define PEMS_KEY                                                                                   \
	"-----BEGIN PRIVATE KEY-----\n"                                                            \
	"MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgqa44RhX8WWHKDAt9\n"                       \
	"fnQllCAZ2pIHRHFNHT8kBkkN7QShRANCAASdX0npPi2nLngTgWY+Htvx5w1nAyc5\n"                       \
	"3titT95K6nDNCV/oC912H253xANnBya6db2bY4NYpJ1MpKtdYwFHwIbl\n"                               \
	"-----END PRIVATE KEY-----\n"
#define PEMS_KEY_SEC1                                                                              \
	"-----BEGIN EC PRIVATE KEY-----\n"                                                         \
	"MHcCAQEEIKmuOEYV/FlhygwLfX50JZQgGdqSB0RxTR0/JAZJDe0EoAoGCCqGSM49\n"                       \
	"AwEHoUQDQgAEnV9J6T4tpy54E4FmPh7b8ecNZwMnOd7YrU/eSupwzQlf6Avddh9u\n"                       \
	"d8QDZwcmunW9m2ODWKSdTKSrXWMBR8CG5Q==\n"                                                   \
	"-----END EC PRIVATE KEY-----\n"
#define PEMS_KEY_SEC1_ENCRYPTED                                                                    \
	"-----BEGIN EC PRIVATE KEY-----\n"                                                         \
	"Proc-Type: 4,ENCRYPTED\n"                                                                 \
	"DEK-Info: AES-256-CBC,CAAE5D81CB88104D8DC5829306C4C548\n"                                 \
	"\n"                                                                                       \
	"s+4XBf7fJj79PJ7ltaHo4DOkcpR6n/JMseLwvhz503mt70iH8bY9O4NG54CeDxL2\n"                       \
	"eKFwx4P6Hz6itK7vC7eeYbnW5STSFdzxmKt2ZMhL9vwMLJWrByZtb8P0RDSlHeAG\n"                       \
	"RzlMD4WtVfkYkgAbVZ/SxoVD72Pg6+xWvC0aJvkgz/s=\n"                                           \
	"-----END EC PRIVATE KEY-----\n"
#define PEMS_KEY_ENCRYPTED                                                                         \
	"-----BEGIN ENCRYPTED PRIVATE KEY-----\n"                                                  \
	"MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAid78KQTjj1IgICCAAw\n"                       \
	"DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEBvjQvzEUeQpn7KB8DmWXBIEgZCj\n"                       \
	"/N+715jDKcf2L2y1E1X2Mhfrb17w8Q8IpUfNUkda4jdV24gIrkiHVnJFVfdtYcXe\n"                       \
	"73bqFHaq54GRTFCxk9FkRw21Xp7ounuuYAcF3A4lMYgv3ZeRAVcSDibHdkaM9XOQ\n"                       \
	"StZKabzVEwYM5Tw/Bmon91AcogpGcHFEO8mGxUEOPRzaEOuIRTnMSOuETzC+EYM=\n"                       \
	"-----END ENCRYPTED PRIVATE KEY-----\n"
#define PEMS_OTHER_KEY                                                                             \
	"-----BEGIN PRIVATE KEY-----\n"                                                            \
	"MC4CAQAwBQYDK2VwBCIEILWmGnbcMA9KjCDB/5xoUoZ1vPNc1Om6vriUkFuPP4sR\n"                       \
	"-----END PRIVATE KEY-----\n"
#define PEMS_RSA_2048                                                                              \
	"-----BEGIN RSA PRIVATE KEY-----\n"                                                        \
	"MIIEowIBAAKCAQEArWy3+b567dvoif7+92kD9B/r0J1gGkweAGaBqg/IuwIpL9F8\n"                       \
	"ml0Ifl5NsZShKyRBFN3GrgxQ1L2jUpMhFe4VeerIcTAGxGszHgsUf/W9sBZIN/Kq\n"                       \
	"kEywLMew9JPoBg/eTKCgQ5bcIkIcycnkMTMTbC8QV/Kl17ugYFzCxaeUE/wt9w1t\n"                       \
	"8R1DASuWH7mIVrHzmhYlI+inLHag13/7FgdnVd5Aw5RnWumE8WIVo1+CuSpzwRei\n"                       \
	"sgo2GODGLKvWkCFEmM7r0a9bB83311MmzA+lBNgrRjItObH1sgHkMnrTE/slcALN\n"                       \
	"Hub4bWpK/ijA9jsJDZo+5rWGSSZ4UeRKztpB0wIDAQABAoIBAA5VEqac/jDOgJsi\n"                       \
	"9p8Az/cAH699H2uc8x/KWO3yjFQe224xwbqfdKu+OcKIINeyu9QweJJ6vxVjL25h\n"                       \
	"bWsQDY38ACERPIXwFr3lYYYqYMj+1my/7SZWyCUzQvsQ3CyKvtmWBBisjOMh6UTT\n"                       \
	"SWdi1riVR87/j9gn5UWsH4amkPTOZS4zXFN3q8VSnywBOdBZS4nZrM/YQWSzmUlL\n"                       \
	"VZ7B3MIJg+/HozVR9aj2eC3jRkSFjsdYqrFnwBTi4UT1WzLQNwMYYiiZMAbQnMxK\n"                       \
	"zhsH/Ix4BzLjG1n0+U342TzUC33Gl4q8hjyQ7IidELutZOE4wct9g+iz/JgDB3Ad\n"                       \
	"bhNg0u0CgYEA8yCP9i7+Ubsh6fcGMtsG3dtfeV7rscRX/MKLWnyXZlDgBqHG8GfT\n"                       \
	"LXJ0xcURTaFcYLbVorFtD6X7/EZV1Yb5xYEVDOOM3dvkkyL+GbELm9FoqKK7l6cF\n"                       \
	"KGDs+k6eMHQin9eJYyGlhKLPRXRC3Nk3mzGiJ0C/y9OJfBDLrymqsi8CgYEAtpth\n"                       \
	"1O1wsX8VvcZ6m48i/vjA/awnksXPF89BnJ3nrDKdibzMu4rRkiIBBeVny2Z6vP89\n"                       \
	"U6LRPucHILwfHvR2uvC2hs3F0XhbkxewKz7KrMxWT0W6dmv07OCM0z/N55oJOOQi\n"                       \
	"zvPtx3FCrFQcfQVbtI6uvY6Zha3ipll917Cc9Z0CgYBx4t/stuikil8BhJgfvF+E\n"                       \
	"Dx2y8dbAJ7P7j3nNgi09XUcDdEaHGGtgj4vJlF1dmud12k9KbYgj22GlM6FDa32W\n"                       \
	"mbetmO3EgxuYHL0gdcF1VOuMiuYKzM7qsjRvr+ID2nLZoxIVII6zCbzD0Qj9ALc+\n"                       \
	"eEp3zqnJJabyOb/fpknyOwKBgEc6vSKtq/PQus5YCaN8Zg5HQiCxco5SEsIa2mEZ\n"                       \
	"RzFoXQNJXiMZtz3lfbirD53Lz7zBY06oiC6dN66RMyKEAXxSQSC8S5m19SKfbtyv\n"                       \
	"ladp3ZD2hhGDcvqjbMtKbCsXbtl+RAWuKOZPS86k0KgD2w3HSmouobv/ZBW3etsT\n"                       \
	"zWYRAoGBALpxvaBBq5SyRQsY/bJ8haaH5uHKlxxMCQVWtD1dl5FIujwN9+9bRRRk\n"                       \
	"tfkjX5W7TAZWNXGaIKFjDKvdR7Svd1FgfB1O23/kFAoMd7kljXescJg4PYaysQzV\n"                       \
	"nRluhjLD2QOeyX8Gh1D1VahEytmWlwsObpxPHlllpcyoNQ2ckzQG\n"                                   \
	"-----END RSA PRIVATE KEY-----\n"
#define PEMS_RSA_1024                                                                              \
	"-----BEGIN PRIVATE KEY-----\n"                                                            \
	"MIICdgIBADANBgkqhkiG9w0BAQEFAASCAmAwggJcAgEAAoGBALif/aXDI8676gwH\n"                       \
	"l0fJgP7NHJWIVv2coS1sou12VT41XVUi/33u27evF7LAeHtiN9nmJh+zhkzcbxbg\n"                       \
	"NA2woZGzWh0Q0jbWaVe+LpIawVZs279A9LaiZu2hediKwsi5cq7HFl8qxir4LFGF\n"                       \
	"NvrXd0uNGo6qyF6b6ZiP5ocGcr2rAgMBAAECgYBu6N3tWH8IUGbXdy/wFiMB7qH/\n"                       \
	"SnpHvHIu4ZY25OFsj45T+MRXGMixXeP0pB88r9IxekrovGYvgjTSHznmB3fnE+Mf\n"                       \
	"AJbJUB4RnCfCOj0e+sUuRYk+LjClPJMCISPGXEhu2/SVojCOzLnOlp+LujfJzUOz\n"                       \
	"isBcIcRDNZFuQoUDkQJBAOE6qUXicgPGiHGLblWZuZup79qK+llfI8WMO1v/gbPV\n"                       \
	"8NpSZNaZjdmI/z/AbeIVkd95h6heY2Y+Kl+NFLWd5Z0CQQDR2TUcgRXc7UOgRoD9\n"                       \
	"HmWwvxnPGuOaQNGC0UjvuqHpiu5M3/Qy0M5mTbpimyTX6nvirc5OMZmA6brucyUr\n"                       \
	"47HnAkBt18gaNxfX04lTpuaGhNRKoJRDhygVUhsGCyAf+/prlFlEgI6BQp41i2TA\n"                       \
	"2L4+VrqvvHt2l6HuiT7tHscM1BbZAkEAu8IKoVxmQWwRDADJPLDL796sqv+2EbhZ\n"                       \
	"PSEgj05/vERQf3wKNMVbR3HYiI2j44SsH9+/LXt3iz6VwPBJnAF4lQJARBSYhx9O\n"                       \
	"OQ6yno6kr18nz4uZCAdToPWIbjhOnPbVRX1eC0E4YjM+7vP0f1okq7yaT4R2tFuO\n"                       \
	"8zmxdbvgP4+c9A==\n"                                                                       \
	"-----END PRIVATE KEY-----\n"
#define PEMS_SECP256K1                                                                             \
	"-----BEGIN PRIVATE KEY-----\n"                                                            \
	"MIGEAgEAMBAGByqGSM49AgEGBSuBBAAKBG0wawIBAQQgGh3ajFo0k+AstSVkGLVi\n"                       \
	"DVhgiq/THqUx2sFa3mlIRAuhRANCAAQ8I5Q/sE5Tzll42bRsWuIgLr3XbmwUf65C\n"                       \
	"JYpNxrnqnYCuLj9yqNyCzgIU3fg9E+dAqby43UDARjDo/ZD2Q+5v\n"                                   \
	"-----END PRIVATE KEY-----\n"
#define PEMS_TRUSTED                                                                               \
	"-----BEGIN TRUSTED CERTIFICATE-----\n"                                                    \
	"MIIBcTCCARegAwIBAgIUSsMolSh4UmWTxKh2u4xjLCg2UM8wCgYIKoZIzj0EAwIw\n"                       \
	"DTELMAkGA1UEAwwCY2EwIBcNMjYxMTIyMjIwNTM2WhgPMjEyNjEwMjkyMjA1MzZa\n"                       \
	"MA0xCzAJBgNVBAMMAmNhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeEmeI/4m\n"                       \
	"tpSrDk5BsWdb6fvQV/DXbwJVCY/7sbQnIdvSYm1VWAJ2B1UxHZmPY/7/AqKDrV99\n"                       \
	"2FbX51mcK9yCFaNTMFEwHQYDVR0OBBYEFNOk81WAohHFKXhbYPanMfEg8peEMB8G\n"                       \
	"A1UdIwQYMBaAFNOk81WAohHFKXhbYPanMfEg8peEMA8GA1UdEwEB/wQFMAMBAf8w\n"                       \
	"CgYIKoZIzj0EAwIDSAAwRQIhAJRz/nlvIONetBuBOHHiyqrnpCoflHZ60V9C787M\n"                       \
	"c2+QAiATA4rLnn109f+qR/u71sDkye3pHbTkQSuAw53qJM/A7g==\n"                                   \
	"-----END TRUSTED CERTIFICATE-----\n"

#endif
